// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The main job on generated bids, from the jar that its users submit. */
record StreamingEtlJob(int rowCount, Path output, Set<String> rows) implements RowsJob {

  /** Runs the job without a failure first: what it writes is what every other run must write. */
  static StreamingEtlJob afterReferenceRun(ProcessCluster cluster, int rowCount, Path folder)
      throws Exception {
    StreamingEtlJob reference =
        new StreamingEtlJob(rowCount, folder.resolve("reference"), Set.of());
    CheckpointedJob.run(cluster, reference.submission(1, 0)).awaitFinished();
    List<String> rows = reference.committed();
    assertThat(rows).hasSize(rowCount).doesNotHaveDuplicates();
    return new StreamingEtlJob(rowCount, folder.resolve("output"), Set.copyOf(rows));
  }

  @Override
  public JobSubmission submission(int parallelism, int rowsPerSecond) {
    return new JobSubmission(
        Path.of(System.getProperty("millrace.cluster.etl.jar")),
        "io.millrace.jobs.StreamingEtl",
        List.of(
            "--events=" + rowCount,
            "--rate=" + rowsPerSecond,
            // The source counts in batches: their size must not depend on the rate.
            "--batch-rows=100",
            "--select=auction, bidder, CAST(price AS DOUBLE) AS price, url, date_time, extra",
            "--checkpoint-interval=" + LONGER_THAN_THE_TEST,
            "--parallelism=" + parallelism,
            "--output=" + output.toUri()),
        parallelism,
        Optional.empty(),
        Map.of());
  }
}
