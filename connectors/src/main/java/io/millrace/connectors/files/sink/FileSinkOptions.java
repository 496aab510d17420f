// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * When a file sink closes files, and whether it joins them before they appear.
 *
 * @param rolling when a subtask closes its file
 * @param compaction whether closed files are joined
 */
@PublicEvolving
public record FileSinkOptions(FileRollingPolicy rolling, FileCompaction compaction) {
  /** Files are closed by checkpoints alone, and appear as they were written. */
  public static final FileSinkOptions DEFAULT =
      new FileSinkOptions(FileRollingPolicy.ON_CHECKPOINT, FileCompaction.NONE);

  public FileSinkOptions {
    Objects.requireNonNull(rolling, "rolling is null");
    Objects.requireNonNull(compaction, "compaction is null");
  }

  public FileSinkOptions withRolling(FileRollingPolicy policy) {
    return new FileSinkOptions(policy, compaction);
  }

  /** The same options with this compaction. With any but NONE, the sink must have a uid. */
  public FileSinkOptions withCompaction(FileCompaction other) {
    return new FileSinkOptions(rolling, other);
  }
}
