// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.IOException;
import java.io.InputStream;
import java.util.OptionalLong;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.io.compression.InflaterInputStreamFactory;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.compression.StandardDeCompressors;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.core.fs.FSDataInputStream;

/**
 * The bytes of a split of a text file, decompressed if the file's name ends like a compressed
 * file's.
 *
 * @param path of the file, as the file system spells it
 * @param stream is at {@code offset}; its reader closes it
 * @param offset in the (decompressed) file
 * @param end of the split: the lines that start before it belong to the split
 */
@Internal
public record SplitInput(String path, InputStream stream, long offset, long end) {

  /**
   * Opens the file.
   *
   * @param offset where reading begins
   * @throws InputException if it cannot be opened or read up to {@code offset}
   */
  public static SplitInput open(FileSourceSplit split, long offset) throws InputException {
    try {
      return openUnnamed(split, offset);
    } catch (IOException e) {
      throw named(split, e);
    }
  }

  private static SplitInput openUnnamed(FileSourceSplit split, long offset) throws IOException {
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
      return new SplitInput(split.path().toString(), input, offset, end);
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /** Where a reader that is restored goes on; empty if it has read nothing. */
  public static OptionalLong restoredOffset(FileSourceSplit split) {
    return split.getReaderPosition().stream()
        .mapToLong(CheckpointedPosition::getOffset)
        .filter(offset -> offset != CheckpointedPosition.NO_OFFSET)
        .findFirst();
  }

  /** A failure to read the split, with the name of its file. */
  public static InputException named(FileSourceSplit split, IOException e) {
    return e instanceof InputException input
        ? input
        : InputException.unreadable(split.path().toString(), split.offset(), e);
  }
}
