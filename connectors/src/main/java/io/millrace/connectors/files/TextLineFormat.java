package io.millrace.connectors.files;

import java.io.IOException;
import java.io.InputStream;
import org.apache.flink.api.common.io.compression.InflaterInputStreamFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.compression.StandardDeCompressors;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.core.fs.FSDataInputStream;

/**
 * Reads text files as {@link TextLine}s, for Flink's {@code FileSource}. A line ends at a line
 * feed, which may follow a carriage return; a UTF-8 byte order mark at the file's start is left
 * out. Files whose names end like a compressed file's are decompressed.
 *
 * <p>The position that is checkpointed is the offset of the next line, so that a restored reader
 * seeks there and reads no line again; in a compressed file it skips there.
 */
public final class TextLineFormat implements BulkFormat<TextLine, FileSourceSplit> {
  /** The longest line that is kept whole unless another length is asked for. */
  public static final int DEFAULT_MAXIMUM_LINE_BYTES = 16 << 20;

  private static final long serialVersionUID = 1L;

  private final LineFraming framing;
  private final int maximumLineBytes;

  /**
   * @param maximumLineBytes of a longer line only so many bytes are kept, and the line is marked
   *     {@linkplain TextLine#truncated truncated}
   * @throws IllegalArgumentException if {@code maximumLineBytes} is not positive
   */
  public TextLineFormat(LineFraming framing, int maximumLineBytes) {
    if (maximumLineBytes < 1) {
      throw new IllegalArgumentException("no lines of at most " + maximumLineBytes + " bytes");
    }
    this.framing = framing;
    this.maximumLineBytes = maximumLineBytes;
  }

  @Override
  public BulkFormat.Reader<TextLine> createReader(Configuration config, FileSourceSplit split)
      throws IOException {
    if (split.offset() == 0) {
      return open(split, 0);
    }
    // The line that the split's first byte is in belongs to the split before, unless it starts
    // there: then the byte before it is a line feed.
    TextLineReader reader = open(split, split.offset() - 1);
    try {
      reader.skipLine();
      return reader;
    } catch (IOException | RuntimeException e) {
      reader.close();
      throw e;
    }
  }

  @Override
  public BulkFormat.Reader<TextLine> restoreReader(Configuration config, FileSourceSplit split)
      throws IOException {
    long offset =
        split
            .getReaderPosition()
            .map(CheckpointedPosition::getOffset)
            .orElse(CheckpointedPosition.NO_OFFSET);
    return offset == CheckpointedPosition.NO_OFFSET
        ? createReader(config, split)
        : open(split, offset);
  }

  private TextLineReader open(FileSourceSplit split, long offset) throws IOException {
    InflaterInputStreamFactory<?> decompressor =
        StandardDeCompressors.getDecompressorForFileName(split.path().getPath());
    FSDataInputStream file = split.path().getFileSystem().open(split.path());
    try {
      InputStream input = file;
      long end = split.offset() + split.length();
      if (decompressor == null) {
        file.seek(offset);
      } else {
        input = decompressor.create(file);
        input.skipNBytes(offset);
        end = Long.MAX_VALUE;
      }
      String path = split.path().toString();
      return new TextLineReader(path, input, offset, end, framing, maximumLineBytes);
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  @Override
  public boolean isSplittable() {
    return framing == LineFraming.LINE_FEED;
  }

  @Override
  public TypeInformation<TextLine> getProducedType() {
    return TextLineSerializer.typeInformation();
  }
}
