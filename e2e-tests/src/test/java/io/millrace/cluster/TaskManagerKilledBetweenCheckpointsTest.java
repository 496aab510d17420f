// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A TaskManager dies (SIGKILL: nothing is flushed or closed) while rows are on their way that no
 * checkpoint has. The output must have each row once all the same.
 */
@Tag("cluster")
class TaskManagerKilledBetweenCheckpointsTest {
  private static final int ROWS = 80_000;
  private static final int ROWS_PER_SECOND = 4_000;

  @RegisterExtension final ProcessClusterExtension processes = new ProcessClusterExtension();

  @Test
  void batchedRowsAreCommittedOnce() throws Exception {
    processes.cluster().setTaskManagers(2);
    killOneAndCount(new BatchedRowsJob(ROWS, processes.folder().resolve("output")));
  }

  @Test
  void rowsOfStreamingEtlAreCommittedOnce() throws Exception {
    processes.cluster().setTaskManagers(2);
    killOneAndCount(
        StreamingEtlJob.afterReferenceRun(processes.cluster(), ROWS, processes.folder()));
  }

  private void killOneAndCount(RowsJob rows) throws Exception {
    ProcessCluster cluster = processes.cluster();
    // Three subtasks need slots of both TaskManagers.
    CheckpointedJob job = CheckpointedJob.run(cluster, rows.submission(3, ROWS_PER_SECOND));
    long checkpoint = job.checkpoint();
    assertThat(checkpoint).isPositive();
    assertThat(job.awaitElementsInFlight()).isPositive();

    String victim = cluster.taskManagers().get(0).name();
    assertThat(job.taskManagers()).contains(victim);
    assertThat(job.completedCheckpoint()).isEqualTo(checkpoint);
    cluster.killTaskManager(victim);
    assertThat(rows.committed()).hasSizeLessThan(ROWS);
    String successor = cluster.startTaskManager().name();
    job.awaitRestored();

    assertThat(job.restoredCheckpoint()).hasValue(checkpoint);
    job.awaitFinished();
    assertThat(job.taskManagers()).contains(successor).doesNotContain(victim);
    rows.assertEachRowCommittedOnce();
  }
}
