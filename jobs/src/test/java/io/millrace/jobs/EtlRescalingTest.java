// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.exchange.ExchangeOptions;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The job is rescaled from its unaligned checkpoints while its files take rows slower than its
 * sources give them, so that batches wait in front of the exchange and in it. Its files have each
 * row once: a row that a checkpoint loses is missing, and one that is sent again is there twice.
 */
@ExtendWith(NothingHeldExtension.class)
class EtlRescalingTest {
  private static final int ROWS = 100_000;
  private static final int FILES = 6;
  private static final int ROWS_OF_BAD_ONE = 1_000;
  private static final int ROWS_OF_FAILING_ONE = 10_000;

  @RegisterExtension static final FlinkCluster flink = FlinkCluster.withAdaptiveScheduler();

  @TempDir Path folder;

  @BeforeEach
  void slowDown() {
    SlowFileSystem.SLOW.set(true);
  }

  private FlinkJob submit(boolean perKeyGroup, Map<String, String> settings) throws Exception {
    Configuration options = new Configuration();
    options.set(ExchangeOptions.PER_KEY_GROUP, perKeyGroup);
    options.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(200));
    options.set(CheckpointingOptions.ENABLE_UNALIGNED, true);
    options.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    options.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        folder.resolve("checkpoints").toUri().toString());
    return flink.submit(environment(options, settings));
  }

  private Path output() {
    return folder.resolve("out");
  }

  /**
   * {@code isInFlight} says of a checkpoint whether batches were on their way when it was taken.
   */
  private static void rescale(FlinkJob job, Predicate<AbstractCheckpointStats> isInFlight)
      throws Exception {
    job.awaitRunning();
    awaitInFlight(job, isInFlight);
    job.rescale(3);
    awaitInFlight(job, isInFlight);
    job.rescale(1);
    awaitInFlight(job, last -> true);
    SlowFileSystem.SLOW.set(false);
    job.await();
  }

  private static void awaitInFlight(FlinkJob job, Predicate<AbstractCheckpointStats> isInFlight)
      throws Exception {
    long written = SlowFileSystem.WRITTEN.get();
    job.awaitUntil(() -> SlowFileSystem.WRITTEN.get() > written + 10_000);
    job.awaitUntil(
        () -> {
          try {
            AbstractCheckpointStats last = job.lastCheckpoint();
            return last != null && isInFlight.test(last);
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private StreamExecutionEnvironment environment(
      Configuration options, Map<String, String> settings) {
    StreamExecutionEnvironment environment = flink.environment(2, options);
    environment.setMaxParallelism(16);
    Map<String, String> all = new HashMap<>(settings);
    all.put("batch.rows", "200");
    all.put("sink.path", "slow://" + output());
    EtlPlan plan = EtlPlan.of(EtlOptions.parse(all));
    EtlEnvironment.completeOnCluster(environment, plan.configuration());
    OutputFolders.check(plan, EtlEnvironment.mayBeResumed(environment));
    EtlPipeline.build(environment, plan);
    return environment;
  }

  @Test
  void batchesInCheckpointsAreRestored() throws Exception {
    String select = "auction, bidder, price, date_time";
    Path expected = folder.resolve("expected");
    EtlRun run =
        EtlRun.of(
            "--events", String.valueOf(ROWS), "--select", select, "--output", expected.toString());
    assertThat(run.exitCode()).as(run.err()).isZero();
    FlinkJob job =
        submit(
            true,
            Map.of(
                "source.events", String.valueOf(ROWS), "select", select, "source.type", "nexmark"));
    rescale(job, checkpoint -> checkpoint.getPersistedData() > 0);
    assertEachWrittenOnce(EtlRun.lines(expected));
  }

  @Test
  void alignedBatchesAndBadRowsAreWrittenOnce() throws Exception {
    writeFiles();
    FlinkJob job = submit(false, readingFiles());
    rescale(job, checkpoint -> checkpoint.getProcessedData() > 0);
    assertEachWrittenOnce(
        LongStream.range(0, ROWS)
            .filter(id -> id % ROWS_OF_FAILING_ONE != 0)
            .mapToObj(id -> id + "," + name(id))
            .toList());
    assertThat(EtlRun.lines(folder.resolve("out-bad")))
        .hasSize(ROWS / ROWS_OF_BAD_ONE + ROWS / ROWS_OF_FAILING_ONE)
        .doesNotHaveDuplicates();
  }

  @Test
  void joinedFilesAreWrittenOnce() throws Exception {
    writeFiles();
    Map<String, String> settings = new HashMap<>(readingFiles());
    settings.put("sink.auto-compaction", "true");
    rescale(submit(true, settings), checkpoint -> true);
    assertEachWrittenOnce(
        LongStream.range(0, ROWS)
            .filter(id -> id % ROWS_OF_FAILING_ONE != 0)
            .mapToObj(id -> id + "," + name(id))
            .toList());
    assertThat(EtlRun.lines(folder.resolve("out-bad")))
        .hasSize(ROWS / ROWS_OF_BAD_ONE + ROWS / ROWS_OF_FAILING_ONE)
        .doesNotHaveDuplicates();
  }

  @Test
  void badRowsAreCountedInOnePlaceWhateverTheParallelism() throws Exception {
    Files.createDirectory(folder.resolve("in"));
    StreamGraph graph = environment(new Configuration(), readingFiles()).getStreamGraph();
    assertThat(graph.getStreamNodes())
        .filteredOn(node -> "count-bad-rows".equals(node.getTransformationUID()))
        .singleElement()
        .returns(1, StreamNode::getMaxParallelism);
  }

  private Map<String, String> readingFiles() {
    return Map.of(
        "source.path",
        folder.resolve("in").toString(),
        "source.schema",
        "id BIGINT NOT NULL, name STRING",
        "where",
        "10 / MOD(id, " + ROWS_OF_FAILING_ONE + ") < 100",
        "partition.by",
        "name");
  }

  private void writeFiles() throws IOException {
    Path in = Files.createDirectory(folder.resolve("in"));
    for (int file = 0; file < FILES; file++) {
      List<String> lines = new ArrayList<>();
      for (long id = file; id < ROWS; id += FILES) {
        lines.add("{\"id\":" + id + ",\"name\":\"" + name(id) + "\"}");
        if (id % ROWS_OF_BAD_ONE == 1) {
          lines.add("bad " + id);
        }
      }
      Files.write(in.resolve(file + ".json"), lines);
    }
  }

  private static String name(long id) {
    return "name " + id * 7 % 50;
  }

  private void assertEachWrittenOnce(List<String> expected) throws IOException {
    Map<String, Integer> tooMany = new HashMap<>();
    EtlRun.lines(output()).forEach(line -> tooMany.merge(line, 1, Integer::sum));
    expected.forEach(line -> tooMany.merge(line, -1, Integer::sum));
    tooMany.values().removeIf(count -> count == 0);
    assertThat(tooMany).isEmpty();
  }
}
