// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.millrace.operators.testing.NothingHeldExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jobs that read files: rows, bad rows, and messages about files that cannot be read. */
@ExtendWith(NothingHeldExtension.class)
class EtlFilesTest {
  private static final Path OF_TOPICS = Path.of("../docs/etl-kafka.yaml");

  @TempDir Path folder;

  private Path write(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private EtlRun run(Path input, String... arguments) {
    List<String> all = new ArrayList<>(Arrays.asList(arguments));
    all.addAll(List.of("--input", input.toString(), "--output", output().toString()));
    return EtlRun.of(all.toArray(String[]::new));
  }

  private Path output() {
    return folder.resolve("out");
  }

  private List<String> badRows() throws IOException {
    return EtlRun.lines(folder.resolve("out-bad"));
  }

  private static void assertFinished(EtlRun run) {
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void emptyKeysOfTheFileAreAsIfTheyWereNotThere() throws IOException {
    Path input = write("in.json", "{\"a\":1}\n{\"a\":2}\n");
    Path config =
        write(
            "etl.yaml",
            """
            source:
              path: %s
              schema: {a: INT}
            where:
            select:
            partition: {by: }
            sink: {path: %s}
            bad-rows.path: ~
            """
                .formatted(input, output()));
    assertFinished(EtlRun.of("--config", config.toString()));
    assertThat(EtlRun.lines(output())).containsExactlyInAnyOrder("1", "2");
  }

  @Test
  void theFileOfTheGuideRunsAndHasAllKeys() throws IOException {
    Path config = Path.of("../docs/etl.yaml");
    assertThat(Stream.of(config, OF_TOPICS).flatMap(f -> YamlSettings.read(f).keySet().stream()))
        .containsAll(
            EtlOptions.ALL.stream()
                .map(ConfigOption::key)
                .filter(key -> !key.equals("source.events") && !key.equals("source.rate"))
                .filter(key -> !key.startsWith("group-by."))
                // Instead of a registry.
                .filter(key -> !key.equals("source.avro.schema"))
                .toList());
    assertThatCode(() -> EtlOptions.parse(YamlSettings.read(OF_TOPICS), Map.of()))
        .doesNotThrowAnyException();
    Path input =
        write(
            "bids.csv",
            """
            price;auction;sold at;channel
            2000;7;2026-01-02T03:04:05;A1
            10;8;;A2
            3000;9;;"A ""b""
            c"
            """);
    EtlRun run =
        run(
            input,
            "--config",
            config.toString(),
            "--bad-rows",
            folder.resolve("out-bad").toString());
    assertFinished(run);
    assertThat(EtlRun.lines(output()))
        .containsExactlyInAnyOrder(
            "{\"auction\":7,\"eur\":1816.000,\"channel_number\":null,\"sold_at\":\"2026-01-02T03:04:05.000\"}",
            "{\"auction\":9,\"eur\":2724.000,\"channel_number\":null,\"sold_at\":null}");
  }

  @Test
  void rowsWithoutAValueThatMayNotBeNullAreBad() throws IOException {
    Path input =
        write("in.json", "{\"a\":1,\"b c\":2}\n{\"a\":2,\"b c\":null}\n{\"a\":3}\n{\"b c\":4}\n");
    assertFinished(run(input, "--schema", "a INT, `b c` INT NOT NULL", "--key", "`b c`"));
    assertThat(EtlRun.lines(output())).containsExactlyInAnyOrder("1,2", ",4");
    assertThat(badRows())
        .hasSize(2)
        .anyMatch(line -> line.contains("column 'b c' is null but NOT NULL"))
        .anyMatch(line -> line.contains("column 'b c' is missing but NOT NULL"));
  }

  @Test
  void csvIsReadByTheNamesOfItsHeader() throws IOException {
    Path input = write("in.csv", "b,more,a\n1,x,2\n3,y,4\n");
    assertFinished(
        run(
            input,
            "--input-format",
            "csv",
            "--csv-header",
            "--schema",
            "a INT, b INT",
            "--output-format",
            "json"));
    assertThat(EtlRun.lines(output()))
        .containsExactlyInAnyOrder("{\"a\":2,\"b\":1}", "{\"a\":4,\"b\":3}");
  }

  @Test
  void aHeaderWithoutAColumnFailsTheJob() throws IOException {
    Path input = write("in.csv", "a,c\n1,2\n");
    EtlRun run = run(input, "--input-format", "csv", "--csv-header", "--schema", "a INT, b INT");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .startsWith("millrace etl: the job failed: ")
        .contains("in.csv: the header has no column 'b'; its columns are [a, c]");
    assertThat(EtlRun.lines(output())).isEmpty();
  }

  @Test
  void theJobReadsTheCsvThatItWrites() throws IOException {
    String rows =
        """
        {"id":1,"note":"two\\nlines, a \\"quote\\""}
        {"id":2,"note":""}
        {"id":3,"note":null}
        {"id":4,"note":"a\\tb;c"}
        """;
    Path input = write("in.json", rows);
    for (String delimiter : List.of(",", ";", "\\t")) {
      Path csv = folder.resolve("csv-" + delimiter.hashCode());
      String[] shared = {"--csv-header", "--csv-delimiter", delimiter};
      List<String> write = new ArrayList<>(Arrays.asList(shared));
      String schema = "id INT NOT NULL, note STRING";
      write.addAll(
          List.of("--input", input.toString(), "--schema", schema, "--output", csv.toString()));
      assertFinished(EtlRun.of(write.toArray(String[]::new)));
      List<String> read = new ArrayList<>(Arrays.asList(shared));
      Path json = folder.resolve("json-" + delimiter.hashCode());
      read.addAll(List.of("--input", csv.toString(), "--input-format", "csv", "--schema", schema));
      read.addAll(List.of("--output", json.toString(), "--output-format", "json"));
      assertFinished(EtlRun.of(read.toArray(String[]::new)));
      assertThat(EtlRun.lines(json)).containsExactlyInAnyOrderElementsOf(rows.lines().toList());
    }
  }

  @ParameterizedTest
  @CsvSource({"1,3", "2,0", "0,3", "50%,0", "49.9%,3", "100%,0"})
  void moreBadRowsThanAllowedFailTheJob(String maximum, int exitCode) throws IOException {
    Path input = write("in.json", "{\"a\":1}\nno json\n{\"a\":2}\nno json\n");
    EtlRun run = run(input, "--schema", "a INT", "--max-bad-rows", maximum);
    assertThat(run.exitCode()).as(run.err()).isEqualTo(exitCode);
    if (exitCode == 3) {
      assertThat(run.err()).contains("the job failed: ").contains("bad").contains("bad-rows.max");
      assertThat(run.err().lines()).hasSize(1);
    }
  }

  @Test
  void rowsThatCannotBeComputedAreBadToo() throws IOException {
    Path input =
        write(
            "in.json", "{\"a\":1,\"s\":\"7\"}\n{\"a\":2,\"s\":\"x\"}\n{\"a\":0,\"s\":\"8\"}\n-\n");
    EtlRun run =
        run(
            input,
            "--schema",
            "a INT, s STRING",
            "--select",
            "CAST(s AS INT) AS n, *",
            "--where",
            "10 / a < 100",
            "--max-bad-rows",
            "75%");
    assertFinished(run);
    assertThat(run.out()).containsPattern("bad rows +3,");
    assertThat(EtlRun.lines(output())).containsExactly("7,1,7");
    assertThat(badRows())
        .hasSize(3)
        .anyMatch(
            line ->
                line.contains("in.json\",\"offset\":16,\"reason\":\"the value cannot be cast")
                    && line.contains("CAST(s AS INT): values 'x'\"")
                    && line.contains("\"text\":\"{\\\"a\\\":2,\\\"s\\\":\\\"x\\\"}\""))
        .anyMatch(line -> line.contains("\"offset\":32,\"reason\":\"division by zero in (10 / a)"))
        .anyMatch(line -> line.contains("\"offset\":48,\"reason\":\"no JSON"));
  }

  @Test
  void rowsThatTheSourceDropsAreRowsIn() throws IOException {
    Path input =
        write(
            "in.json",
            """
            {"a":1,"s":"x"}
            {"a":5,"s":"y"}
            {"a":1,"s":2}
            {"a":null,"s":"z"}
            {"a":7}
            """);
    List<String> conditions = List.of("a > 3", "a > 3 AND (s IS NULL OR s IS NOT NULL)");
    for (String condition : conditions) {
      Path target = folder.resolve("out" + conditions.indexOf(condition));
      EtlRun run =
          EtlRun.of(
              "--input",
              input.toString(),
              "--output",
              target.toString(),
              "--schema",
              "a INT, s STRING",
              "--where",
              condition,
              "--max-bad-rows",
              "20%");
      assertFinished(run);
      assertThat(run.out())
          .containsPattern("rows in +4\n")
          .containsPattern("rows out +2\n")
          .containsPattern("bad rows +1,");
      assertThat(EtlRun.lines(target)).containsExactlyInAnyOrder("5,y", "7,");
      assertThat(EtlRun.lines(Path.of(target + "-bad"))).hasSize(1);
    }
  }

  @Test
  void ifRowsThatCannotBeComputedFailTheJobTheMessageNamesTheOption() throws IOException {
    Path input = write("in.json", "{\"s\":\"x\"}\n");
    EtlRun run =
        run(input, "--schema", "s STRING", "--select", "CAST(s AS INT) AS n", "--on-error", "fail");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .contains("CAST(s AS INT)")
        .contains("values 'x'")
        .contains("TRY_CAST gives NULL instead; on-error: skip");
    assertThat(run.err().lines()).hasSize(1);
  }

  @Test
  void aFileThatCannotBeReadIsNamedWithTheReason() throws IOException {
    Path input = Files.write(folder.resolve("in.json.gz"), new byte[] {31, (byte) 139, 8, 0, 0});
    EtlRun run = run(input, "--schema", "a INT");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .startsWith("millrace etl: the job failed: cannot read ")
        .contains("in.json.gz behind byte 0: ");
  }

  @Test
  void anOutputFolderWithFilesIsRefusedUnlessItIsSaidWhatBecomesOfThem() throws IOException {
    Path input = write("in.json", "{\"a\":1}\n-\n");
    assertFinished(run(input, "--schema", "a INT"));
    EtlRun again = run(input, "--schema", "a INT");
    assertThat(again.exitCode()).isEqualTo(2);
    assertThat(again.err()).contains("out has files already").contains("--append");
    assertThat(EtlRun.lines(output())).hasSize(1);
    assertFinished(run(input, "--schema", "a INT", "--append"));
    assertThat(EtlRun.lines(output())).containsExactly("1", "1");
    assertThat(badRows()).hasSize(2);
    assertFinished(run(input, "--schema", "a INT", "--overwrite"));
    assertThat(EtlRun.lines(output())).containsExactly("1");
    assertThat(badRows()).hasSize(1);
    Path own = Files.writeString(output().resolve("own.txt"), "x");
    EtlRun overOwn = run(input, "--schema", "a INT", "--overwrite");
    assertThat(overOwn.exitCode()).isEqualTo(2);
    assertThat(overOwn.err()).contains("no job has written its file own.txt");
    assertThat(own).exists();
    assertThat(EtlRun.lines(output())).containsExactly("1");
  }

  @Test
  void anOutputThatCannotBeWrittenIsSaidBeforeTheJobStarts() throws IOException {
    Path input = write("in.json", "{\"a\":1}\n");
    Files.writeString(output(), "a file");
    EtlRun run = run(input, "--schema", "a INT");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("sink.path: ").contains("out is a file, not a folder");
    EtlRun below = EtlRun.of("--events", "5", "--output", output().resolve("x").toString());
    assertThat(below.exitCode()).isEqualTo(2);
    assertThat(below.err()).contains("sink.path: cannot write to ");
    EtlRun same =
        EtlRun.of("--input", folder.toString(), "--schema", "a INT", "--output", folder.toString());
    assertThat(same.exitCode()).isEqualTo(2);
    assertThat(same.err()).contains("is read by the same job");
  }
}
