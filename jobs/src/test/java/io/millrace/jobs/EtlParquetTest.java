// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.testing.NothingHeldExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that write and read Parquet files. */
@ExtendWith(NothingHeldExtension.class)
class EtlParquetTest {
  @TempDir Path folder;

  private EtlRun run(String output, String... arguments) {
    String[] all = java.util.Arrays.copyOf(arguments, arguments.length + 2);
    all[arguments.length] = "--output";
    all[arguments.length + 1] = folder.resolve(output).toString();
    return EtlRun.of(all);
  }

  private static void assertFinished(EtlRun run) {
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
  }

  @BeforeEach
  void writeParquet() throws IOException {
    Path input = folder.resolve("in.csv");
    Files.write(
        input,
        IntStream.range(0, 1000).mapToObj(i -> i + ",name " + i % 7 + "," + i + ".25").toList());
    assertFinished(
        run(
            "parquet",
            "--input",
            input.toString(),
            "--input-format",
            "csv",
            "--schema",
            "id BIGINT NOT NULL, name STRING, price DECIMAL(10, 2)",
            "--output-format",
            "parquet"));
    try (var files = Files.list(folder.resolve("parquet"))) {
      assertThat(files.filter(file -> file.toString().endsWith(".parquet"))).isNotEmpty();
    }
  }

  private String parquet() {
    return folder.resolve("parquet").toString();
  }

  @Test
  void theColumnsAreThoseOfTheFilesIfNoneAreDeclared() throws IOException {
    assertFinished(
        run(
            "out",
            "--input",
            parquet(),
            "--input-format",
            "parquet",
            "--where",
            "id >= 500 AND name <> 'name 3'"));
    List<String> expected =
        IntStream.range(500, 1000)
            .filter(i -> i % 7 != 3)
            .mapToObj(i -> i + ",name " + i % 7 + "," + i + ".25")
            .toList();
    assertThat(EtlRun.lines(folder.resolve("out"))).containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void columnsAreSelectedGroupedAndDeclared() throws IOException {
    assertFinished(
        run(
            "out",
            "--input",
            parquet(),
            "--input-format",
            "parquet",
            "--schema",
            "name STRING, id BIGINT",
            "--select",
            "name, id * 2 AS twice",
            "--group-by",
            "name",
            "--aggregates",
            "COUNT(*) AS n, MAX(twice) AS last"));
    assertThat(EtlRun.lines(folder.resolve("out")))
        .containsExactlyInAnyOrder(
            "name 0,143,1988",
            "name 1,143,1990",
            "name 2,143,1992",
            "name 3,143,1994",
            "name 4,143,1996",
            "name 5,143,1998",
            "name 6,142,1986");
  }

  @Test
  void aConstantNeedsNoColumn() throws IOException {
    assertFinished(
        run("out", "--input", parquet(), "--input-format", "parquet", "--select", "1 AS unit"));
    assertThat(EtlRun.lines(folder.resolve("out"))).hasSize(1000).containsOnly("1");
  }

  @Test
  void anotherTypeFailsTheJobAndAFileThatIsNoneIsRefusedBefore() throws IOException {
    EtlRun other =
        run("out", "--input", parquet(), "--input-format", "parquet", "--schema", "id INT");
    assertThat(other.exitCode()).isEqualTo(1);
    assertThat(other.err()).contains("expected INT for column 'id', got BIGINT");

    Path text = Files.writeString(folder.resolve("a.parquet"), "this is a text, not a file");
    EtlRun none = run("out2", "--input", text.toString(), "--input-format", "parquet");
    assertThat(none.exitCode()).isEqualTo(2);
    assertThat(none.err()).contains("a.parquet is not a Parquet file: it does not end with PAR1");
  }

  @Test
  void optionsOfLinesAreRefused() {
    EtlRun run =
        run("out", "--input", parquet(), "--input-format", "parquet", "--on-error", "fail");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("on-error has no effect here");
  }
}
