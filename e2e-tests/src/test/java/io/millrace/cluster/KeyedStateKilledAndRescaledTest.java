// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.GroupedBidsJob.Kind;
import io.millrace.process.LoggedProcess;
import io.millrace.testing.RandomExtension;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointStatistics;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * TaskManagers of a job with keyed state die (SIGKILL) at random moments, and between these rounds
 * the job is restored with another parallelism; or its JobManager dies, its checkpoint is damaged,
 * or its disk is full. What is committed in the end is what a simple program says, row for row.
 * {@code -Dmillrace.cluster.rounds} sets the number of rounds, {@code -Dmillrace.cluster.devices},
 * such as {@code cuda,host}, the devices that they take in turn.
 */
@Tag("cluster")
class KeyedStateKilledAndRescaledTest {
  private static final int BIDS_PER_SECOND = 2_500;
  // Far more than is needed on an idle machine; what is left of a job's bids is read at once.
  private static final int SECONDS_OF_A_JOB = 120;
  private static final int SECONDS_OF_A_ROUND = 40;
  private static final Map<String, String> FILES_ONLY =
      Map.of("execution.checkpointing.data-inline-threshold", "0 b");

  @RegisterExtension final ProcessClusterExtension processes = new ProcessClusterExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private GroupedBidsJob bids(int seconds, Kind kind) {
    return new GroupedBidsJob(
        seconds * BIDS_PER_SECOND, processes.folder().resolve("output"), kind);
  }

  @ParameterizedTest
  @EnumSource
  // For all rounds; each wait of a round has a limit of its own.
  @Timeout(value = 1, unit = TimeUnit.HOURS)
  void eachBidIsCountedOnce(Kind kind) throws Exception {
    ProcessCluster cluster = processes.cluster();
    // Without one of them there are slots enough: no round waits until another one has started.
    cluster.setTaskManagers(3);
    GroupedBidsJob bids = bids(SECONDS_OF_A_JOB + SECONDS_OF_A_ROUND * Round.COUNT, kind);
    Random moments = random.random();
    Optional<String> restored = Optional.empty();
    for (int number = 0; number < Round.COUNT; number++) {
      long startNanos = System.nanoTime();
      Round round = Round.of(number, kind.firstRound());
      JobSubmission submission =
          round.of(bids.submission(round.parallelism(), BIDS_PER_SECOND).restoredFrom(restored));
      CheckpointedJob job = CheckpointedJob.run(cluster, submission);
      String killed = killOne(job, moments);
      job.checkpoint();
      assertThat(job.awaitRowsInFlight()).isPositive();
      String device = job.device();
      job.cancel();
      restored = Optional.of(job.checkpointPath());
      System.out.printf(
          "%s: %s on %s; %d s%n",
          round, killed, device, (System.nanoTime() - startNanos) / 1_000_000_000);
    }
    Round last = Round.of(Round.COUNT, 0);
    CheckpointedJob.run(cluster, last.of(bids.submission(2, 0).restoredFrom(restored)))
        .awaitFinished();
    bids.assertResults();
  }

  /** Kills a TaskManager between checkpoints, and says what it did. */
  private String killOne(CheckpointedJob job, Random moments) throws Exception {
    ProcessCluster cluster = processes.cluster();
    int checkpoints = 1 + moments.nextInt(3);
    long checkpoint = job.checkpoint();
    for (int i = 1; i < checkpoints; i++) {
      assertThat(job.awaitRowsInFlight()).isPositive();
      checkpoint = job.checkpoint();
    }
    CheckpointStatistics statistics = job.completed();
    for (int i = moments.nextInt(8); i >= 0; i--) {
      assertThat(job.awaitRowsInFlight()).isPositive();
    }
    List<String> used = job.taskManagers().stream().sorted().toList();
    String victim = used.get(moments.nextInt(used.size()));
    cluster.killTaskManager(victim);
    cluster.startTaskManager();
    job.awaitRestoredFrom(checkpoint);
    return "%s killed after %d checkpoints, the last of which wrote %d of %d bytes; restored from it"
        .formatted(
            victim, checkpoints, statistics.getCheckpointedSize(), statistics.getStateSize());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aJobOfAKilledJobManagerIsRestoredInAnotherCluster(boolean isIncremental) throws Exception {
    GroupedBidsJob bids = bids(SECONDS_OF_A_JOB, Kind.WINDOWS);
    JobSubmission submission =
        bids.submission(2, BIDS_PER_SECOND)
            .withConfiguration(
                Map.of("execution.checkpointing.incremental", String.valueOf(isIncremental)));
    String path;
    try (ProcessCluster killed = ProcessCluster.start(processes.folder().resolve("killed"))) {
      killed.setTaskManagers(2);
      CheckpointedJob job = CheckpointedJob.run(killed, submission);
      job.checkpoint();
      assertThat(job.awaitRowsInFlight()).isPositive();
      job.checkpoint();
      path = job.checkpointPath();
      assertThat(job.awaitRowsInFlight()).isPositive();
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
    GroupedBidsJob bids = bids(SECONDS_OF_A_JOB, Kind.GROUP_BY);
    CheckpointedJob job =
        CheckpointedJob.run(
            cluster, bids.submission(2, BIDS_PER_SECOND).withConfiguration(FILES_ONLY));
    assertThat(job.awaitRowsInFlight()).isPositive();
    job.checkpoint();
    job.cancel();
    String path = job.checkpointPath();

    Path file = largestFile(Path.of(URI.create(path)));
    byte[] bytes = Files.readAllBytes(file);
    byte[] damaged = bytes.clone();
    Random places = random.random();
    if (damage.equals("cut off")) {
      damaged = Arrays.copyOf(bytes, 1 + places.nextInt(bytes.length - 1));
    } else {
      damaged[places.nextInt(bytes.length)] ^= (byte) (1 << places.nextInt(8));
    }
    Files.write(file, damaged);
    int committed = bids.committed().size();
    JobSubmission submission = bids.submission(2, 0).restoredFrom(path);
    assertThat(
            CheckpointedJob.failureOf(
                cluster, submission.withConfiguration(Map.of("restart-strategy.type", "none"))))
        .contains("keyed state");
    assertThat(bids.committed()).hasSize(committed);

    Files.write(file, bytes);
    CheckpointedJob.run(cluster, submission).awaitFinished();
    bids.assertResults();
  }

  @Test
  void aJobWhoseDiskWasFullEndsExact() throws Exception {
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(2);
    GroupedBidsJob bids = bids(SECONDS_OF_A_JOB, Kind.GROUP_BY);
    CheckpointedJob job = CheckpointedJob.run(cluster, bids.submission(2, BIDS_PER_SECOND));
    assertThat(job.awaitRowsInFlight()).isPositive();
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
    for (LoggedProcess taskManager : processes.cluster().taskManagers()) {
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
