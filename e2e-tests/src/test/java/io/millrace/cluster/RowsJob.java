package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.job.NumberedRows;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * A job of generated rows, each of them unique, that are partitioned by key and written to files.
 *
 * @param rows how many
 * @param output the folder that the job writes
 */
record RowsJob(int rows, Path output) {

  /**
   * The job to submit; it takes no checkpoint of its own accord.
   *
   * @param rowsPerSecond of all sources together; 0 for as fast as it goes
   */
  JobSubmission submission(int parallelism, int rowsPerSecond) {
    return new JobSubmission(
        Path.of(System.getProperty("millrace.cluster.job.jar")),
        NumberedRows.class.getName(),
        List.of(String.valueOf(rows), String.valueOf(rowsPerSecond), output.toUri().toString()),
        parallelism,
        Optional.empty(),
        Map.of());
  }

  /** The rows that the job has committed so far. */
  List<String> committed() throws IOException {
    return CommittedFiles.lines(output);
  }

  /** Fails unless every row is committed, and none twice. */
  void assertEachRowCommittedOnce() throws IOException {
    Set<String> missing =
        LongStream.range(0, rows).mapToObj(row -> "row " + row).collect(Collectors.toSet());
    List<String> unexpected = new ArrayList<>();
    for (String row : committed()) {
      if (!missing.remove(row)) {
        unexpected.add(row);
      }
    }
    assertThat(missing).as("lost rows").isEmpty();
    assertThat(unexpected).as("doubled rows").isEmpty();
  }
}
