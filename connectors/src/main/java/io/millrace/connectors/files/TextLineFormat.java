// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.apache.flink.annotation.Internal;
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
@Internal
public final class TextLineFormat implements BulkFormat<TextLine, FileSourceSplit> {
  private static final long serialVersionUID = 1L;

  private final TextLineOptions options;

  public TextLineFormat(TextLineOptions options) {
    this.options = Objects.requireNonNull(options, "options are null");
  }

  /**
   * @throws InputException if the file cannot be opened or its start cannot be read
   */
  @Override
  public BulkFormat.Reader<TextLine> createReader(Configuration config, FileSourceSplit split)
      throws IOException {
    boolean fromStart = split.offset() == 0;
    byte[] header = options.header() && !fromStart ? readHeader(split) : null;
    // The line that the split's first byte is in belongs to the split before, unless it starts
    // there: then the byte before it is a line feed.
    TextLineReader reader = open(split, fromStart ? 0 : split.offset() - 1, header);
    try {
      if (!fromStart) {
        reader.skipLine();
      } else if (options.header()) {
        reader.readHeader();
      }
      return reader;
    } catch (IOException e) {
      reader.close();
      throw named(split, e);
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
        : open(split, offset, options.header() ? readHeader(split) : null);
  }

  private byte[] readHeader(FileSourceSplit split) throws IOException {
    try (TextLineReader reader = open(split, 0, null)) {
      return reader.readHeader();
    } catch (IOException e) {
      throw named(split, e);
    }
  }

  private static InputException named(FileSourceSplit split, IOException e) {
    return e instanceof InputException input
        ? input
        : InputException.unreadable(split.path().toString(), split.offset(), e);
  }

  private TextLineReader open(FileSourceSplit split, long offset, byte[] header)
      throws IOException {
    try {
      return openUnnamed(split, offset, header);
    } catch (IOException e) {
      throw named(split, e);
    }
  }

  private TextLineReader openUnnamed(FileSourceSplit split, long offset, byte[] header)
      throws IOException {
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
      return new TextLineReader(path, input, offset, end, options, header);
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  @Override
  public boolean isSplittable() {
    return options.framing() == LineFraming.LINE_FEED;
  }

  @Override
  public TypeInformation<TextLine> getProducedType() {
    return TextLineSerializer.typeInformation();
  }
}
