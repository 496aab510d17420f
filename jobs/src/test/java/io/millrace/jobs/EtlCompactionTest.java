// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.testing.NothingHeldExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs whose files are closed by size and joined. */
@ExtendWith(NothingHeldExtension.class)
class EtlCompactionTest {
  private static final int ROWS = 2000;
  private static final String SCHEMA = "id BIGINT NOT NULL, name STRING";

  @TempDir Path folder;

  private EtlRun run(String output, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--output", folder.resolve(output).toString()));
    EtlRun run = EtlRun.of(all.toArray(String[]::new));
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    return run;
  }

  private Path input() throws IOException {
    return Files.write(
        folder.resolve("in.json"),
        IntStream.range(0, ROWS)
            .mapToObj(
                id -> id % 100 == 1 ? "bad" : "{\"id\":" + id + ",\"name\":\"name " + id + "\"}")
            .toList());
  }

  private static List<String> expected() {
    return IntStream.range(0, ROWS)
        .filter(id -> id % 100 != 1)
        .mapToObj(id -> id + ",name " + id)
        .sorted()
        .toList();
  }

  private List<String> names(String output) throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve(output))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.startsWith("."))
          .toList();
    }
  }

  /** The rows of a folder as CSV, written by a job that reads it. */
  private List<String> rows(String output, String format) throws IOException {
    String read = output + "-read";
    run(
        read,
        "--input",
        folder.resolve(output).toString(),
        "--input-format",
        format,
        "--schema",
        SCHEMA);
    return sortedLines(read);
  }

  private List<String> sortedLines(String output) throws IOException {
    return EtlRun.lines(folder.resolve(output)).stream().sorted().toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "csv", "parquet"})
  void filesAreClosedBySizeAndJoined(String format) throws IOException {
    String[] options = {
      "--input",
      input().toString(),
      "--schema",
      SCHEMA,
      "--output-format",
      format,
      "--batch-rows",
      "100",
      "--rolling-file-size",
      "500b"
    };
    run("plain", options);
    // A row group ends at a checkpoint at the earliest.
    assertThat(names("plain")).hasSizeGreaterThan(format.equals("parquet") ? 1 : 4);
    assertThat(rows("plain", format)).isEqualTo(expected());

    List<String> joining = new ArrayList<>(List.of(options));
    joining.addAll(List.of("--auto-compaction", "--compaction-file-size", "1mb"));
    joining.addAll(List.of("--compaction-checkpoints", "1000"));
    run("joined", joining.toArray(String[]::new));
    assertThat(names("joined"))
        .singleElement()
        .satisfies(name -> assertThat(name).startsWith("compacted-part-"));
    assertThat(rows("joined", format)).isEqualTo(expected());
    assertThat(names("joined-bad")).hasSize(1);
    assertThat(EtlRun.lines(folder.resolve("joined-bad"))).hasSize(ROWS / 100);

    joining.add("--overwrite");
    run("joined", joining.toArray(String[]::new));
    assertThat(names("joined")).hasSize(1);
  }

  @Test
  void theSizeOfJoinedFilesIsThatOfRolledOnesIfItIsNotGiven() throws IOException {
    run(
        "out",
        "--input",
        input().toString(),
        "--schema",
        SCHEMA,
        "--batch-rows",
        "100",
        "--rolling-file-size",
        "4kb",
        "--auto-compaction",
        "--parallelism",
        "1");
    assertThat(names("out")).hasSizeGreaterThan(1);
    assertThat(sortedLines("out")).isEqualTo(expected());
  }

  @Test
  void aJobThatIsResumedMayStopCompactionOrBeginIt() throws Exception {
    List<String> bids =
        List.of("--events", "20000", "--select", "auction, bidder, price, date_time");
    run("expected", bids.toArray(String[]::new));
    List<String> slow = new ArrayList<>(bids);
    slow.addAll(List.of("--rate", "4000", "--output", folder.resolve("out").toString()));
    List<String> joining = new ArrayList<>(slow);
    joining.addAll(List.of("--auto-compaction", "--compaction-checkpoints", "1000"));
    // Files of two checkpoints, hidden.
    String first = stop(joining, ".*part-.*", 4);
    assertThat(names("out")).isEmpty();
    // Committed as they were written: all tasks run.
    String second = stop(resumed(slow, first), "part-.*", 1);
    assertThat(names("out")).anyMatch(name -> name.startsWith("compacted-part-"));
    int files = names("out").size();
    EtlRun last = EtlRun.of(resumed(joining, second).toArray(String[]::new));
    assertThat(last.err()).isEmpty();
    assertThat(names("out")).hasSizeGreaterThan(files);
    assertThat(sortedLines("out")).isEqualTo(sortedLines("expected"));
  }

  private static List<String> resumed(List<String> arguments, String savepoint) {
    List<String> all = new ArrayList<>(arguments);
    all.addAll(List.of("--resume", savepoint));
    return all;
  }

  /** Stops a job once there are so many files of a name, and returns its savepoint. */
  private String stop(List<String> arguments, String name, int count) throws Exception {
    CompletableFuture<Integer> stop = new CompletableFuture<>();
    CompletableFuture<EtlRun> run =
        CompletableFuture.supplyAsync(() -> EtlRun.of(stop, arguments.toArray(String[]::new)));
    while (files(name) < count && !run.isDone()) {
      Thread.sleep(10);
    }
    stop.complete(130);
    EtlRun stopped = run.get();
    assertThat(stopped.err()).isEmpty();
    assertThat(stopped.exitCode()).isEqualTo(130);
    Matcher savepoint = Pattern.compile("--resume (\\S+)").matcher(stopped.out());
    assertThat(savepoint.find()).isTrue();
    return savepoint.group(1);
  }

  private long files(String name) throws IOException {
    Path output = folder.resolve("out");
    if (!Files.exists(output)) {
      return 0;
    }
    try (Stream<Path> files = Files.list(output)) {
      return files.filter(file -> file.getFileName().toString().matches(name)).count();
    }
  }
}
