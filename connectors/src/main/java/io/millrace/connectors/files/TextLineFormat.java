// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.IOException;
import java.util.Objects;
import java.util.OptionalLong;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;

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
    byte[] header = options.header() && !fromStart ? readHeader(split, options) : null;
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
      throw SplitInput.named(split, e);
    }
  }

  @Override
  public BulkFormat.Reader<TextLine> restoreReader(Configuration config, FileSourceSplit split)
      throws IOException {
    OptionalLong offset = SplitInput.restoredOffset(split);
    return offset.isEmpty()
        ? createReader(config, split)
        : open(split, offset.getAsLong(), options.header() ? readHeader(split, options) : null);
  }

  /**
   * The first line of the file that the split belongs to; null if the file is empty.
   *
   * @throws InputException if the file cannot be opened or read, or the line is too long
   */
  public static byte[] readHeader(FileSourceSplit split, TextLineOptions options)
      throws IOException {
    try (TextLineReader reader = open(split, 0, options, null)) {
      return reader.readHeader();
    } catch (IOException e) {
      throw SplitInput.named(split, e);
    }
  }

  private TextLineReader open(FileSourceSplit split, long offset, byte[] header)
      throws IOException {
    return open(split, offset, options, header);
  }

  private static TextLineReader open(
      FileSourceSplit split, long offset, TextLineOptions options, byte[] header)
      throws IOException {
    SplitInput input = SplitInput.open(split, offset);
    return new TextLineReader(input.path(), input.stream(), offset, input.end(), options, header);
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
