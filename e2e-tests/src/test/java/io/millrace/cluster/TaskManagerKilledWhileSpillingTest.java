// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.process.Await;
import io.millrace.process.LoggedProcess;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A TaskManager dies (SIGKILL) while its job holds more than device and host memory may, so that
 * the rest is on disk. The output must have each row once, and no spill file must be left.
 */
@Tag("cluster")
class TaskManagerKilledWhileSpillingTest {
  private static final int ROWS = 20_000;
  private static final int ROWS_PER_SECOND = 1_000;
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @RegisterExtension final ProcessClusterExtension processes = new ProcessClusterExtension();

  @Test
  void heldRowsAreCommittedOnceAndNoSpillFileIsLeft() throws Exception {
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(2);
    RowsJob rows = new HeldRowsJob(ROWS, processes.folder().resolve("output"));
    // Three subtasks need slots of both TaskManagers.
    CheckpointedJob job = CheckpointedJob.run(cluster, rows.submission(3, ROWS_PER_SECOND));
    long checkpoint = job.checkpoint();
    assertThat(checkpoint).isPositive();
    job.awaitPositive("memory.diskBytes");
    LoggedProcess victim = cluster.taskManagers().get(0);
    awaitSpillFile(victim);

    assertThat(job.completedCheckpoint()).isEqualTo(checkpoint);
    cluster.killTaskManager(victim.name());
    assertThat(rows.committed()).hasSizeLessThan(ROWS);
    LoggedProcess successor = cluster.startTaskManager();
    job.awaitRestored();
    assertThat(job.restoredCheckpoint()).hasValue(checkpoint);
    awaitSpillFile(successor);
    job.awaitFinished();

    rows.assertEachRowCommittedOnce();
    assertThat(job.taskManagers()).contains(successor.name()).doesNotContain(victim.name());
    for (LoggedProcess taskManager : cluster.taskManagers()) {
      assertThat(SpillFiles.openIn(taskManager)).as(taskManager.name()).isEmpty();
    }
    assertThat(SpillFiles.namedIn(cluster.folder())).isEmpty();
  }

  private void awaitSpillFile(LoggedProcess taskManager) throws Exception {
    Await.until(
        taskManager.name() + " has spilled to disk",
        LIMIT,
        () -> SpillFiles.bytesOf(taskManager) > 0,
        processes.cluster()::diagnosis);
  }
}
