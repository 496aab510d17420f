// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.process.CommittedFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A bounded job that writes rows to files, all of them different, partitioned by a key. */
interface RowsJob {
  /** A checkpoint interval that leaves the checkpoints to the test. */
  String LONGER_THAN_THE_TEST = "1 h";

  /**
   * The job to submit. It asks for no checkpoint while it runs. A run may continue another one with
   * another parallelism and rate.
   *
   * @param rowsPerSecond of all sources together; 0 for as fast as it goes
   */
  JobSubmission submission(int parallelism, int rowsPerSecond);

  /** The folder that the job writes. */
  Path output();

  /** The rows that a finished job must have committed, once each. */
  Set<String> rows();

  /** The rows that the job has committed so far. */
  default List<String> committed() throws IOException {
    return CommittedFiles.lines(output());
  }

  /** Fails unless every row is committed, and none twice. */
  default void assertEachRowCommittedOnce() throws IOException {
    Set<String> missing = new HashSet<>(rows());
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
