// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import io.millrace.cluster.job.BatchedRows;
import io.millrace.cluster.job.HeldRows;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** {@link HeldRows}: batches that wait for the next checkpoint, most of them on disk. */
record HeldRowsJob(int rowCount, Path output) implements RowsJob {

  @Override
  public JobSubmission submission(int parallelism, int rowsPerSecond) {
    return new JobSubmission(
        Path.of(System.getProperty("millrace.cluster.job.jar")),
        HeldRows.class.getName(),
        List.of(String.valueOf(rowCount), String.valueOf(rowsPerSecond), output.toUri().toString()),
        parallelism,
        Optional.empty(),
        Map.of(
            "execution.checkpointing.interval",
            LONGER_THAN_THE_TEST,
            "millrace.spill.device-limit",
            "1 mb",
            "millrace.spill.host-limit",
            "512 kb"));
  }

  @Override
  public Set<String> rows() {
    return IntStream.range(0, rowCount)
        .mapToObj(number -> BatchedRows.line(number, HeldRows.REPETITIONS))
        .collect(Collectors.toSet());
  }
}
