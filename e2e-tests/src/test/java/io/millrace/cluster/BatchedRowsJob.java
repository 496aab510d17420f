// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import io.millrace.cluster.job.BatchedRows;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** {@link BatchedRows}: single rows that wait in the batching operator for their batch to fill. */
record BatchedRowsJob(int rowCount, Path output) implements RowsJob {

  @Override
  public JobSubmission submission(int parallelism, int rowsPerSecond) {
    return new JobSubmission(
        Path.of(System.getProperty("millrace.cluster.job.jar")),
        BatchedRows.class.getName(),
        List.of(String.valueOf(rowCount), String.valueOf(rowsPerSecond), output.toUri().toString()),
        parallelism,
        Optional.empty(),
        Map.of("execution.checkpointing.interval", LONGER_THAN_THE_TEST));
  }

  @Override
  public Set<String> rows() {
    return LongStream.range(0, rowCount)
        .mapToObj(number -> BatchedRows.line(number, 1))
        .collect(Collectors.toSet());
  }
}
