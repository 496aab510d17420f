// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.MutableRecordAndPosition;
import org.apache.flink.connector.file.src.util.RecordAndPosition;

/** Cuts a stream of bytes into lines, a buffer's worth at a time. */
final class TextLineReader implements BulkFormat.Reader<TextLine> {
  private static final int BUFFER_BYTES = 256 << 10;
  private static final int BATCH_BYTES = 256 << 10;
  private static final int LINE_OVERHEAD_BYTES = 64;
  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

  private final String path;
  private final InputStream input;
  private final long end;
  private final boolean quoted;
  private final byte delimiter;
  private final int maximumLineBytes;
  private byte[] header;

  // buffer[start, limit) is read and not yet returned; offset is the file's at start.
  private byte[] buffer = new byte[BUFFER_BYTES];
  private int start;
  private int limit;
  private long offset;
  // The offset behind each line of the current batch.
  private long[] nextOffsets = new long[1024];

  /**
   * @param input is at {@code offset} of the file; closed with this reader
   * @param end lines that start here or later are not read
   * @param header of the file, which comes with each line; null if it has none
   */
  TextLineReader(
      String path,
      InputStream input,
      long offset,
      long end,
      TextLineOptions options,
      byte[] header) {
    this.path = path;
    this.input = input;
    this.offset = offset;
    this.end = end;
    this.quoted = options.framing() == LineFraming.QUOTED_LINE_FEED;
    this.delimiter = (byte) options.delimiter();
    this.maximumLineBytes = options.maximumLineBytes();
    this.header = header;
  }

  /**
   * Reads a line as the header of the following lines.
   *
   * @return the header; null at the end
   * @throws InputException if it is longer than a line may be
   */
  byte[] readHeader() throws IOException {
    TextLine line = readLine();
    if (line != null && line.truncated()) {
      throw new InputException(
          path + ": the header is longer than the " + maximumLineBytes + " bytes allowed", null);
    }
    header = line == null ? null : line.bytes();
    return header;
  }

  @Override
  public BulkFormat.RecordIterator<TextLine> readBatch() throws IOException {
    List<TextLine> lines = new ArrayList<>();
    long bytes = 0;
    try {
      for (TextLine line = readLine();
          line != null;
          line = bytes < BATCH_BYTES ? readLine() : null) {
        lines.add(line);
        addNextOffset(lines.size());
        bytes += line.bytes().length + LINE_OVERHEAD_BYTES;
      }
    } catch (InputException e) {
      throw e;
    } catch (IOException e) {
      throw InputException.unreadable(path, offset, e);
    }
    return lines.isEmpty() ? null : new Lines(lines, Arrays.copyOf(nextOffsets, lines.size()));
  }

  private void addNextOffset(int lines) {
    if (lines > nextOffsets.length) {
      nextOffsets = Arrays.copyOf(nextOffsets, 2 * nextOffsets.length);
    }
    nextOffsets[lines - 1] = offset;
  }

  /** The next line, or null at the end. */
  TextLine readLine() throws IOException {
    if (offset >= end || !fill(1)) {
      return null;
    }
    long lineOffset = offset;
    if (lineOffset == 0 && fill(BYTE_ORDER_MARK.length) && startsWithByteOrderMark()) {
      advance(BYTE_ORDER_MARK.length);
      if (!fill(1)) {
        return null;
      }
    }
    int length = findLineFeed();
    if (length > maximumLineBytes) {
      byte[] bytes = Arrays.copyOfRange(buffer, start, start + maximumLineBytes);
      advance(maximumLineBytes);
      skipLine();
      return new TextLine(path, lineOffset, bytes, true, header);
    }
    int contentEnd = start + length;
    boolean carriageReturn = length > 0 && buffer[contentEnd - 1] == '\r';
    byte[] bytes = Arrays.copyOfRange(buffer, start, carriageReturn ? contentEnd - 1 : contentEnd);
    advance(Math.min(length + 1, limit - start));
    return new TextLine(path, lineOffset, bytes, false, header);
  }

  /** Moves behind the next line feed, quoted or not, or to the end. */
  void skipLine() throws IOException {
    while (fill(1)) {
      for (int i = start; i < limit; i++) {
        if (buffer[i] == '\n') {
          advance(i + 1 - start);
          return;
        }
      }
      advance(limit - start);
    }
  }

  // Bytes before the line's end, or more than the maximum if there are more.
  private int findLineFeed() throws IOException {
    FieldState field = FieldState.START;
    int length = 0;
    while (length <= maximumLineBytes) {
      if (start + length == limit && !fill(length + 1)) {
        return length;
      }
      byte b = buffer[start + length];
      if (b == '\n' && field != FieldState.QUOTED) {
        return length;
      }
      if (quoted) {
        field = field.behind(b, delimiter);
      }
      length++;
    }
    return length;
  }

  // Whether there are at least so many unread bytes.
  private boolean fill(int bytes) throws IOException {
    while (limit - start < bytes) {
      makeRoom(bytes);
      int read = input.read(buffer, limit, buffer.length - limit);
      if (read < 0) {
        return false;
      }
      limit += read;
    }
    return true;
  }

  private void makeRoom(int bytes) {
    if (start > 0) {
      System.arraycopy(buffer, start, buffer, 0, limit - start);
      limit -= start;
      start = 0;
    }
    if (buffer.length < bytes) {
      buffer = Arrays.copyOf(buffer, (int) Math.min(buffer.length * 2L, Integer.MAX_VALUE - 8));
    }
  }

  private void advance(int bytes) {
    start += bytes;
    offset += bytes;
  }

  private boolean startsWithByteOrderMark() {
    int length = BYTE_ORDER_MARK.length;
    return Arrays.equals(buffer, start, start + length, BYTE_ORDER_MARK, 0, length);
  }

  @Override
  public void close() throws IOException {
    input.close();
  }

  /** Each line with the position behind it. */
  private static final class Lines implements BulkFormat.RecordIterator<TextLine> {
    private final List<TextLine> lines;
    private final long[] nextOffsets;
    private final MutableRecordAndPosition<TextLine> current = new MutableRecordAndPosition<>();
    private int next;

    Lines(List<TextLine> lines, long[] nextOffsets) {
      this.lines = lines;
      this.nextOffsets = nextOffsets;
    }

    @Override
    public RecordAndPosition<TextLine> next() {
      if (next == lines.size()) {
        return null;
      }
      current.set(lines.get(next), nextOffsets[next], 0);
      next++;
      return current;
    }

    @Override
    public void releaseBatch() {}
  }
}
