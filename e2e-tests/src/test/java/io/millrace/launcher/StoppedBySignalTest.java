// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.process.Await;
import io.millrace.process.CommittedFiles;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A signal stops an endless job with a savepoint, from which it goes on exactly once. */
@Tag("cluster")
class StoppedBySignalTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Pattern RESUME = Pattern.compile("--resume (\\S+)");

  @TempDir private Path folder;

  @Test
  void eachRowIsWrittenOnceOverTwoStops() throws Exception {
    String savepoint = runUntilStopped("INT", 130);
    int rowsOfFirstRun = committed().size();
    assertThat(folder.resolve("output-savepoints").toFile().list()).hasSize(1);
    assertRefused();

    runUntilStopped("TERM", 143, "--resume=" + savepoint);
    List<String> rows = committed();
    assertThat(rows).hasSizeGreaterThan(rowsOfFirstRun);

    Path reference = folder.resolve("reference");
    MillraceProcess all = run("--events=" + rows.size(), "--output=" + reference);
    assertThat(all.exitCode()).as(all.error()).isZero();
    assertThat(rows).containsExactlyInAnyOrderElementsOf(CommittedFiles.lines(reference));
  }

  /** Starts an endless job, stops it once it has written, and returns where its savepoint is. */
  private String runUntilStopped(String signal, int exitCode, String... more) throws Exception {
    int before = committed().size();
    List<String> arguments = new ArrayList<>(List.of(more));
    arguments.addAll(List.of("--events=0", "--rate=3000", "--output=" + output()));
    try (MillraceProcess.Running job = MillraceProcess.startEtl(folder, arguments(arguments))) {
      Await.until(
          "the job writes rows",
          LIMIT,
          () -> {
            if (!job.process().isAlive()) {
              throw new AssertionError("the job ended: " + job.describe());
            }
            return committed().size() > before;
          },
          job::describe);
      job.signal(signal);
      MillraceProcess stopped = job.await();
      assertThat(stopped.exitCode()).as(job.describe()).isEqualTo(exitCode);
      // Flink logs an exception if a checkpoint begins while the job stops, which harms nothing.
      assertThat(stopped.error()).doesNotContain("millrace etl:");
      Matcher resume = RESUME.matcher(stopped.output());
      assertThat(resume.find()).as(stopped.output()).isTrue();
      return resume.group(1);
    }
  }

  /** Who forgets to resume does not write the rows again. */
  private void assertRefused() throws Exception {
    MillraceProcess again = run("--events=10", "--output=" + output());
    assertThat(again.exitCode()).isEqualTo(2);
    assertThat(again.error()).contains("has files already");
  }

  private MillraceProcess run(String... arguments) throws Exception {
    return MillraceProcess.etl(folder, arguments(List.of(arguments)));
  }

  private static String[] arguments(List<String> arguments) {
    List<String> all = new ArrayList<>(arguments);
    // One subtask writes the first rows of the generator, without gaps.
    all.addAll(
        List.of(
            "--parallelism=1",
            "--batch-rows=100",
            "--checkpoint-interval=300ms",
            "--select=auction, bidder, price, channel, url, date_time, extra"));
    return all.toArray(String[]::new);
  }

  private List<String> committed() throws Exception {
    return CommittedFiles.lines(output());
  }

  private Path output() {
    return folder.resolve("output");
  }
}
