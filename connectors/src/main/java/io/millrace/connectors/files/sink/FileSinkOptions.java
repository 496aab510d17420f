// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * When a file sink closes files, and whether it joins them before they appear.
 *
 * @param rolling when a subtask closes its file
 * @param compaction whether closed files are joined
 * @param partitionKeys the columns that choose the folder of a row
 */
@PublicEvolving
public record FileSinkOptions(
    FileRollingPolicy rolling, FileCompaction compaction, PartitionKeys partitionKeys) {
  /** Files in one folder are closed by checkpoints alone, and appear as they were written. */
  public static final FileSinkOptions DEFAULT =
      new FileSinkOptions(FileRollingPolicy.ON_CHECKPOINT, FileCompaction.NONE, PartitionKeys.NONE);

  public FileSinkOptions {
    Objects.requireNonNull(rolling, "rolling is null");
    Objects.requireNonNull(compaction, "compaction is null");
    Objects.requireNonNull(partitionKeys, "partitionKeys are null");
  }

  public FileSinkOptions withRolling(FileRollingPolicy policy) {
    return new FileSinkOptions(policy, compaction, partitionKeys);
  }

  /** The same options with this compaction. With any but NONE, the sink must have a uid. */
  public FileSinkOptions withCompaction(FileCompaction other) {
    return new FileSinkOptions(rolling, other, partitionKeys);
  }

  /** The same options with these keys of partitions. */
  public FileSinkOptions withPartitionKeys(PartitionKeys keys) {
    return new FileSinkOptions(rolling, compaction, keys);
  }
}
