// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A job is cancelled with rows on their way and started again from its retained checkpoint with
 * more subtasks, then with fewer. The output must have each row once over all three runs.
 */
@Tag("cluster")
class CheckpointRestoredWithOtherParallelismTest {
  private static final int ROWS = 200_000;
  private static final int ROWS_PER_SECOND = 4_000;

  @RegisterExtension final ProcessClusterExtension processes = new ProcessClusterExtension();

  @Test
  void batchedRowsAreCommittedOnce() throws Exception {
    processes.cluster().setTaskManagers(2);
    rescaleAndCount(new BatchedRowsJob(ROWS, processes.folder().resolve("output")));
  }

  @Test
  void rowsOfStreamingEtlAreCommittedOnce() throws Exception {
    processes.cluster().setTaskManagers(2);
    rescaleAndCount(
        StreamingEtlJob.afterReferenceRun(processes.cluster(), ROWS, processes.folder()));
  }

  /** Runs the job with two subtasks, then three, then one. */
  private void rescaleAndCount(RowsJob rows) throws Exception {
    ProcessCluster cluster = processes.cluster();

    CheckpointedJob two = CheckpointedJob.run(cluster, rows.submission(2, ROWS_PER_SECOND));
    String fromTwo = cancelWithElementsInFlight(two);
    CheckpointedJob three =
        CheckpointedJob.run(cluster, rows.submission(3, ROWS_PER_SECOND).restoredFrom(fromTwo));
    assertThat(three.restoredCheckpoint()).isPresent();
    String fromThree = cancelWithElementsInFlight(three);
    assertThat(rows.committed()).isNotEmpty().hasSizeLessThan(ROWS);
    // The rate is not part of the state: the rest may come at full speed.
    CheckpointedJob one =
        CheckpointedJob.run(cluster, rows.submission(1, 0).restoredFrom(fromThree));
    assertThat(one.restoredCheckpoint()).isPresent();
    one.awaitFinished();

    rows.assertEachRowCommittedOnce();
  }

  private static String cancelWithElementsInFlight(CheckpointedJob job) throws Exception {
    assertThat(job.checkpoint()).isPositive();
    assertThat(job.awaitElementsInFlight()).isPositive();
    String path = job.checkpointPath();
    job.cancel();
    return path;
  }
}
