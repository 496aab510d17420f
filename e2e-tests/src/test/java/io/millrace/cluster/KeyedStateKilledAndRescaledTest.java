// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testing.RandomExtension;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * TaskManagers of a job with keyed state die (SIGKILL) at random moments, and between these rounds
 * the job is restored with another parallelism; or its JobManager dies, its checkpoint is damaged,
 * or its disk is full. What is committed in the end is what a simple program says, row for row.
 * {@code -Dmillrace.cluster.rounds} sets the number of rounds.
 */
@Tag("cluster")
class KeyedStateKilledAndRescaledTest {
  private static final int ROUNDS = Integer.getInteger("millrace.cluster.rounds", 3);
  private static final int[] PARALLELISMS = {2, 3, 1};
  private static final int BIDS_PER_SECOND = 1_000;
  // Five minutes for each round, which takes some seconds on an idle machine; the last job is fast.
  private static final int BIDS = 300 * BIDS_PER_SECOND * ROUNDS;

  @RegisterExtension final ProcessClusterExtension processes = new ProcessClusterExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private GroupedBidsJob bids(boolean isWindowed, Map<String, String> configuration) {
    return new GroupedBidsJob(
        BIDS, processes.folder().resolve("output"), isWindowed, configuration);
  }

  @ParameterizedTest
  @CsvSource({
    "false, false, true",
    "false, true, false",
    "true, false, false",
    "true, true, true",
  })
  void eachBidIsCountedOnce(boolean isWindowed, boolean isUnaligned, boolean isIncremental)
      throws Exception {
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(2);
    GroupedBidsJob bids =
        bids(
            isWindowed,
            Map.of(
                "execution.checkpointing.unaligned.enabled",
                String.valueOf(isUnaligned),
                "execution.checkpointing.incremental",
                String.valueOf(isIncremental)));
    JobSubmission submission = null;
    for (int round = 0; round < ROUNDS; round++) {
      int parallelism = PARALLELISMS[round % PARALLELISMS.length];
      JobSubmission next = bids.submission(parallelism, BIDS_PER_SECOND);
      submission = submission == null ? next : next.restoredFrom(submission.restorePath().get());
      CheckpointedJob job = CheckpointedJob.run(cluster, submission);
      killOne(job);
      job.checkpoint();
      assertThat(job.awaitElementsInFlight()).isPositive();
      job.cancel();
      submission = submission.restoredFrom(job.checkpointPath());
    }
    CheckpointedJob last =
        CheckpointedJob.run(
            cluster, bids.submission(2, 0).restoredFrom(submission.restorePath().get()));
    last.awaitFinished();
    bids.assertResults();
  }

  private void killOne(CheckpointedJob job) throws Exception {
    ProcessCluster cluster = processes.cluster();
    long checkpoint = job.checkpoint();
    for (int i = random.random().nextInt(20); i >= 0; i--) {
      assertThat(job.awaitElementsInFlight()).isPositive();
    }
    List<String> used = job.taskManagers().stream().sorted().toList();
    cluster.killTaskManager(used.get(random.random().nextInt(used.size())));
    cluster.startTaskManager();
    job.awaitRestoredFrom(checkpoint);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aJobOfAKilledJobManagerIsRestoredInAnotherCluster(boolean isIncremental) throws Exception {
    GroupedBidsJob bids =
        bids(true, Map.of("execution.checkpointing.incremental", String.valueOf(isIncremental)));
    String path;
    try (ProcessCluster killed = ProcessCluster.start(processes.folder().resolve("killed"))) {
      killed.setTaskManagers(2);
      CheckpointedJob job = CheckpointedJob.run(killed, bids.submission(2, BIDS_PER_SECOND));
      job.checkpoint();
      assertThat(job.awaitElementsInFlight()).isPositive();
      job.checkpoint();
      path = job.checkpointPath();
      assertThat(job.awaitElementsInFlight()).isPositive();
      killed.killJobManager();
    }
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(2);
    CheckpointedJob.run(cluster, bids.submission(2, 0).restoredFrom(path)).awaitFinished();
    bids.assertResults();
  }

  @ParameterizedTest
  @ValueSource(strings = {"cut off", "flipped"})
  void aDamagedFileOfStateFailsTheJob(String damage) throws Exception {
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(2);
    GroupedBidsJob bids =
        bids(
            false,
            Map.of(
                "execution.checkpointing.data-inline-threshold", "0 b",
                "restart-strategy.type", "none"));
    CheckpointedJob job = CheckpointedJob.run(cluster, bids.submission(2, BIDS_PER_SECOND));
    assertThat(job.awaitElementsInFlight()).isPositive();
    job.checkpoint();
    job.cancel();
    String path = job.checkpointPath();

    Path file = largestFile(Path.of(URI.create(path)));
    byte[] bytes = Files.readAllBytes(file);
    byte[] damaged = bytes.clone();
    if (damage.equals("cut off")) {
      damaged = Arrays.copyOf(bytes, 1 + random.random().nextInt(bytes.length - 1));
    } else {
      damaged[random.random().nextInt(bytes.length)] ^= (byte) (1 << random.random().nextInt(8));
    }
    Files.write(file, damaged);
    int committed = bids.committed().size();
    assertThat(CheckpointedJob.failureOf(cluster, bids.submission(2, 0).restoredFrom(path)))
        .contains("keyed state");
    assertThat(bids.committed()).hasSize(committed);

    Files.write(file, bytes);
    CheckpointedJob.run(cluster, bids.submission(2, 0).restoredFrom(path)).awaitFinished();
    bids.assertResults();
  }

  @Test
  void aJobWhoseDiskWasFullEndsExact() throws Exception {
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(2);
    GroupedBidsJob bids = bids(false, Map.of());
    CheckpointedJob job = CheckpointedJob.run(cluster, bids.submission(2, BIDS_PER_SECOND));
    assertThat(job.awaitElementsInFlight()).isPositive();
    long checkpoint = job.checkpoint();
    limitFileSize("0");
    job.awaitFailure("File too large");
    limitFileSize("unlimited");
    job.awaitRestoredFrom(checkpoint);
    job.checkpoint();
    job.cancel();
    CheckpointedJob.run(cluster, bids.submission(2, 0).restoredFrom(job.checkpointPath()))
        .awaitFinished();
    bids.assertResults();
  }

  private void limitFileSize(String bytes) throws Exception {
    for (JvmProcess taskManager : processes.cluster().taskManagers()) {
      taskManager.limitFileSize(bytes);
    }
  }

  private static Path largestFile(Path checkpoint) throws Exception {
    try (Stream<Path> files = Files.list(checkpoint)) {
      return files
          .filter(file -> !file.getFileName().toString().equals("_metadata"))
          .max(Comparator.comparing(file -> file.toFile().length()))
          .orElseThrow();
    }
  }
}
