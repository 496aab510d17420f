// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.block;

import io.millrace.connectors.files.LineFraming;
import io.millrace.connectors.files.SplitInput;
import io.millrace.connectors.files.TextLineFormat;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.connectors.files.scan.ScanEnd;
import java.io.IOException;
import java.util.Objects;
import java.util.OptionalLong;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;

/**
 * Reads text files as {@link TextBlock}s, for Flink's {@code FileSource}. A line ends as {@link
 * TextLineOptions} say; a UTF-8 byte order mark at the file's start is left out. Files whose names
 * end like a compressed file's are decompressed.
 *
 * <p>The position that is checkpointed is the offset of the next block's first line, as in {@link
 * io.millrace.connectors.files.TextLineFormat}, so that a job may change between the two.
 */
@Internal
public final class TextBlockFormat implements BulkFormat<TextBlock, FileSourceSplit> {
  private static final long serialVersionUID = 1L;

  private final TextLineOptions options;
  private final BlockLimit limit = new BlockLimit();

  /**
   * @param options lines that are too long are {@linkplain TextBlock#truncated truncated}
   */
  public TextBlockFormat(TextLineOptions options) {
    this.options = Objects.requireNonNull(options, "options are null");
  }

  /**
   * @throws io.millrace.connectors.files.InputException if the file cannot be opened or its start
   *     cannot be read
   */
  @Override
  public BulkFormat.Reader<TextBlock> createReader(Configuration config, FileSourceSplit split)
      throws IOException {
    if (limit.isEnded()) {
      return ScanEnd.emptyReader();
    }
    boolean isFromStart = split.offset() == 0;
    // The line that the split's first byte is in belongs to the split before, unless it starts
    // there: then the byte before it is a line feed.
    TextBlockReader reader = open(split, isFromStart ? 0 : split.offset() - 1);
    try {
      if (isFromStart) {
        reader.skipHeader();
      } else {
        reader.skipLine();
      }
      return reader;
    } catch (IOException e) {
      reader.close();
      throw SplitInput.named(split, e);
    }
  }

  @Override
  public BulkFormat.Reader<TextBlock> restoreReader(Configuration config, FileSourceSplit split)
      throws IOException {
    OptionalLong offset = SplitInput.restoredOffset(split);
    return offset.isEmpty() ? createReader(config, split) : open(split, offset.getAsLong());
  }

  private TextBlockReader open(FileSourceSplit split, long offset) throws IOException {
    byte[] header = options.header() ? TextLineFormat.readHeader(split, options) : null;
    return new TextBlockReader(SplitInput.open(split, offset), options, header, limit);
  }

  @Override
  public boolean isSplittable() {
    return options.framing() == LineFraming.LINE_FEED;
  }

  @Override
  public TypeInformation<TextBlock> getProducedType() {
    return TextBlockSerializer.typeInformation();
  }
}
