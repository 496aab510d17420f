// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.block;

import io.millrace.connectors.files.FieldState;
import io.millrace.connectors.files.InputException;
import io.millrace.connectors.files.LineFraming;
import io.millrace.connectors.files.SplitInput;
import io.millrace.connectors.files.TextLineOptions;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.SingletonResultIterator;

/** Cuts a stream of bytes into blocks of whole lines. Used by one thread. */
final class TextBlockReader implements BulkFormat.Reader<TextBlock> {
  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};
  private static final int TOO_LONG = -1;
  // In pieces, which the file system may copy twice, what is copied stays in the processor's cache.
  private static final int PIECE_BYTES = 64 << 10;

  private final String path;
  private final InputStream input;
  private final long end;
  private final TextLineOptions options;
  private final int maximumLineBytes;
  private final byte[] header;
  private final BlockLimit limit;

  // Of the limit; buffer[0, size) is read and not yet returned; offset is the file's at its start.
  private byte[] buffer;
  private int size;
  private long offset;

  /**
   * @param split closed with this reader
   * @param header of the file, which comes with each block; null if the file has none
   * @param limit of the subtask's readers
   */
  TextBlockReader(SplitInput split, TextLineOptions options, byte[] header, BlockLimit limit) {
    this.path = split.path();
    this.input = split.stream();
    this.offset = split.offset();
    this.end = split.end();
    this.options = options;
    this.maximumLineBytes = options.maximumLineBytes();
    this.header = header;
    this.limit = limit;
    this.buffer = limit.takeArray(limit.bytes());
  }

  @Override
  public BulkFormat.RecordIterator<TextBlock> readBatch() throws IOException {
    try {
      return readBlock();
    } catch (InputException e) {
      throw e;
    } catch (IOException e) {
      throw InputException.unreadable(path, offset, e);
    }
  }

  private BulkFormat.RecordIterator<TextBlock> readBlock() throws IOException {
    if (offset >= end || limit.isEnded()) {
      return null;
    }
    if (offset == 0) {
      skipByteOrderMark();
    }
    if (!fill(1)) {
      return null;
    }
    int length = blockLength();
    boolean truncated = length == TOO_LONG;
    TextBlock block = takeBlock(truncated ? maximumLineBytes : length, truncated);
    if (truncated) {
      skipLine();
    }
    SingletonResultIterator<TextBlock> result = new SingletonResultIterator<>();
    result.set(block, offset, 0);
    return result;
  }

  private TextBlock takeBlock(int length, boolean truncated) {
    TextBlock block = new TextBlock(path, offset, buffer, length, truncated, header, limit);
    int rest = size - length;
    byte[] next = limit.takeArray(Math.max(limit.bytes(), rest));
    System.arraycopy(buffer, length, next, 0, rest);
    buffer = next;
    size = rest;
    offset += length;
    return block;
  }

  // The bytes of the lines up to that of the byte where the block is full or the split ends. All
  // lines before that are short enough; TOO_LONG if there is none, and that line is too long.
  private int blockLength() throws IOException {
    // A split may end within the byte order mark.
    long left = Math.max(1, end - offset);
    long least = Math.min(Math.min(limit.bytes(), maximumLineBytes), left);
    fill((int) least);
    return options.framing() == LineFraming.LINE_FEED ? lines(least) : quotedLines(least);
  }

  private int lines(long least) throws IOException {
    int first = (int) Math.min(least, size) - 1;
    int lineStart = first;
    while (lineStart > 0 && buffer[lineStart - 1] != '\n') {
      lineStart--;
    }
    for (int i = first; ; i++) {
      if (i == size && !fill(size + 1)) {
        return size;
      }
      if (buffer[i] == '\n') {
        return i + 1;
      }
      if (i - lineStart >= maximumLineBytes) {
        return lineStart > 0 ? lineStart : TOO_LONG;
      }
    }
  }

  private int quotedLines(long least) throws IOException {
    byte delimiter = (byte) options.delimiter();
    FieldState field = FieldState.START;
    int lineStart = 0;
    for (int i = 0; ; i++) {
      if (i == size && !fill(size + 1)) {
        return size;
      }
      byte b = buffer[i];
      if (b == '\n' && field != FieldState.QUOTED) {
        field = FieldState.START;
        lineStart = i + 1;
        if (lineStart >= least) {
          return lineStart;
        }
        continue;
      }
      if (i - lineStart >= maximumLineBytes) {
        return lineStart > 0 ? lineStart : TOO_LONG;
      }
      field = field.behind(b, delimiter);
    }
  }

  /** At the start of a file that has a header: moves behind it. */
  void skipHeader() throws IOException {
    if (header == null) {
      return;
    }
    skipByteOrderMark();
    fill(header.length);
    advance(header.length);
    skipLine();
  }

  private void skipByteOrderMark() throws IOException {
    int length = BYTE_ORDER_MARK.length;
    if (fill(length) && Arrays.equals(buffer, 0, length, BYTE_ORDER_MARK, 0, length)) {
      advance(length);
    }
  }

  /** Moves behind the next line feed, or to the end. */
  void skipLine() throws IOException {
    while (fill(1)) {
      for (int i = 0; i < size; i++) {
        if (buffer[i] == '\n') {
          advance(i + 1);
          return;
        }
      }
      advance(size);
    }
  }

  // Whether there are at least so many unread bytes.
  private boolean fill(int bytes) throws IOException {
    if (buffer.length < bytes) {
      byte[] larger = limit.takeArray(bytes);
      System.arraycopy(buffer, 0, larger, 0, size);
      limit.giveBack(buffer);
      buffer = larger;
    }
    while (size < bytes) {
      int read = input.read(buffer, size, Math.min(buffer.length - size, PIECE_BYTES));
      if (read < 0) {
        return false;
      }
      size += read;
    }
    return true;
  }

  private void advance(int bytes) {
    System.arraycopy(buffer, bytes, buffer, 0, size - bytes);
    size -= bytes;
    offset += bytes;
  }

  @Override
  public void close() throws IOException {
    limit.giveBack(buffer);
    buffer = new byte[0];
    input.close();
  }
}
