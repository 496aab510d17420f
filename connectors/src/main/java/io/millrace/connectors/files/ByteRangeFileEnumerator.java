// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.compression.StandardDeCompressors;
import org.apache.flink.connector.file.src.enumerate.BlockSplittingRecursiveEnumerator;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;

/**
 * Splits files by their blocks, as Flink does, and blocks into ranges of bytes: a local file has
 * but one block, which one subtask would read alone.
 */
@Internal
public final class ByteRangeFileEnumerator extends BlockSplittingRecursiveEnumerator {
  private static final long RANGE_BYTES = 64L << 20;

  private final long rangeBytes;

  public ByteRangeFileEnumerator() {
    this(RANGE_BYTES);
  }

  /**
   * @param rangeBytes the most bytes of a split
   */
  ByteRangeFileEnumerator(long rangeBytes) {
    this.rangeBytes = rangeBytes;
  }

  @Override
  protected void convertToSourceSplits(
      FileStatus file, FileSystem fileSystem, List<FileSourceSplit> target) throws IOException {
    List<FileSourceSplit> blocks = new ArrayList<>();
    super.convertToSourceSplits(file, fileSystem, blocks);
    boolean isCompressed =
        StandardDeCompressors.getDecompressorForFileName(file.getPath().getPath()) != null;
    for (FileSourceSplit block : blocks) {
      if (isCompressed || block.length() <= rangeBytes) {
        target.add(block);
      } else {
        addRanges(file, block, target);
      }
    }
  }

  private void addRanges(
      FileStatus file, FileSourceSplit block, Collection<FileSourceSplit> target) {
    long end = block.offset() + block.length();
    for (long offset = block.offset(); offset < end; offset += rangeBytes) {
      target.add(
          new FileSourceSplit(
              getNextId(),
              file.getPath(),
              offset,
              Math.min(rangeBytes, end - offset),
              file.getModificationTime(),
              file.getLen(),
              block.hostnames()));
    }
  }
}
