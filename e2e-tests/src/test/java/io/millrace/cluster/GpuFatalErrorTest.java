// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.job.GpuFatalErrorRows;
import io.millrace.process.LoggedProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A kernel writes to an illegal address, after which no call of the driver works in its process.
 * The TaskManager ends by itself, and the job goes on from its last checkpoint in others.
 */
@Tag("cluster")
class GpuFatalErrorTest {
  private static final int ROWS = 40_000;
  private static final int ROWS_PER_SECOND = 4_000;
  // FatalExitExceptionHandler.EXIT_CODE of Flink, as the operating system shows it.
  private static final int FATAL_EXIT_CODE = -17 & 0xff;

  @RegisterExtension final ProcessClusterExtension processes = new ProcessClusterExtension();

  /** As {@link BatchedRowsJob}, with a fatal error once {@code file} appears. */
  private record FailingRowsJob(int rowCount, Path output, Path file, String thread)
      implements RowsJob {
    @Override
    public JobSubmission submission(int parallelism, int rowsPerSecond) {
      return new JobSubmission(
          Path.of(System.getProperty("millrace.cluster.job.jar")),
          GpuFatalErrorRows.class.getName(),
          List.of(
              String.valueOf(rowCount),
              String.valueOf(rowsPerSecond),
              output.toUri().toString(),
              file.toString(),
              thread),
          parallelism,
          Optional.empty(),
          Map.of("execution.checkpointing.interval", LONGER_THAN_THE_TEST));
    }

    @Override
    public Set<String> rows() {
      return new BatchedRowsJob(rowCount, output).rows();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"task", "other"})
  void theTaskManagerEndsAndTheJobGoesOn(String thread) throws Exception {
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(2);
    Path file = processes.folder().resolve("break");
    RowsJob rows = new FailingRowsJob(ROWS, processes.folder().resolve("output"), file, thread);
    CheckpointedJob job = CheckpointedJob.run(cluster, rows.submission(3, ROWS_PER_SECOND));
    long checkpoint = job.checkpoint();
    assertThat(job.awaitElementsInFlight()).isPositive();

    Files.createFile(file);
    LoggedProcess ended = cluster.awaitTaskManagerEnd();
    assertThat(ended.exitCode()).as(ended.diagnosis()).isEqualTo(FATAL_EXIT_CODE);
    assertThat(ended.output())
        .contains("millrace: this process cannot use its GPU any more: ")
        .contains("CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    cluster.startTaskManager();
    job.awaitRestored();

    assertThat(job.restoredCheckpoint()).hasValue(checkpoint);
    job.awaitFinished();
    assertThat(job.taskManagers()).doesNotContain(ended.name());
    rows.assertEachRowCommittedOnce();
  }
}
