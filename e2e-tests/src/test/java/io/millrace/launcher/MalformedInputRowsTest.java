// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.process.CommittedFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows that cannot be parsed are counted and kept with their position; the others go on. */
@Tag("cluster")
class MalformedInputRowsTest {
  private static final int ROWS = 200;

  @TempDir private Path folder;

  @Test
  void malformedJsonLinesAreKeptAndTheJobContinues() throws Exception {
    List<String> lines = new ArrayList<>();
    for (int id = 0; id < ROWS; id++) {
      lines.add("{\"id\": %d, \"name\": \"ş%d\"}".formatted(id, id));
    }
    lines.add(17, "{\"id\": 17, \"name\": ");
    lines.add(100, "{\"id\": \"many\", \"name\": \"n\"}");
    lines.add("not json");
    Path input = write("input.json", lines);

    MillraceProcess etl =
        MillraceProcess.etl(
            folder,
            "--source=files",
            "--input=" + input,
            "--schema=id BIGINT, name STRING",
            "--output=" + output(),
            "--bad-rows=" + badRows());

    assertThat(etl.exitCode()).as(etl.error()).isZero();
    assertThat(etl.output()).containsPattern("bad rows +3,").containsPattern("rows out +200\n");
    assertThat(CommittedFiles.lines(output())).hasSize(ROWS).doesNotHaveDuplicates();
    assertKept(lines, 17, 100, lines.size() - 1);
  }

  @Test
  void malformedCsvRowsAreKeptAndTheJobContinues() throws Exception {
    List<String> lines = new ArrayList<>();
    for (int id = 0; id < ROWS; id++) {
      lines.add(id + ",name " + id);
    }
    lines.add(0, "first,is no number");
    lines.add(50, "50");
    lines.add("7,too,many");
    Path input = write("input.csv", lines);

    MillraceProcess etl =
        MillraceProcess.etl(
            folder,
            "--source=files",
            "--input=" + input,
            "--input-format=csv",
            "--schema=id BIGINT, name STRING",
            "--output=" + output(),
            "--bad-rows=" + badRows());

    assertThat(etl.exitCode()).as(etl.error()).isZero();
    assertThat(etl.output()).containsPattern("bad rows +3,");
    assertThat(CommittedFiles.lines(output())).hasSize(ROWS).doesNotHaveDuplicates();
    assertKept(lines, 0, 50, lines.size() - 1);
  }

  @Test
  void onErrorFailStopsWithPositionAndReason() throws Exception {
    Path input = write("input.json", List.of("{\"id\": 1}", "{\"id\": oops}", "{\"id\": 3}"));

    MillraceProcess etl =
        MillraceProcess.etl(
            folder,
            "--source=files",
            "--input=" + input,
            "--schema=id BIGINT",
            "--on-error=fail",
            "--output=" + output());

    assertThat(etl.exitCode()).as(etl.error()).isEqualTo(1);
    assertThat(etl.error()).contains("input.json").contains("oops");
    // A checkpoint may have committed what came before the malformed line, and nothing else.
    assertThat(CommittedFiles.lines(output())).isSubsetOf("1");
  }

  /** Each malformed line is kept once, with file, byte offset, a reason and its text. */
  private void assertKept(List<String> lines, int... malformed) throws Exception {
    List<String> kept = CommittedFiles.lines(badRows());
    assertThat(kept).hasSize(malformed.length);
    for (int line : malformed) {
      long offset =
          lines.stream().limit(line).mapToLong(text -> text.getBytes(UTF_8).length + 1L).sum();
      assertThat(kept)
          .filteredOn(row -> row.contains("\"offset\":" + offset + ","))
          .singleElement()
          .asString()
          .contains("\"path\":\"", "input.", "\"reason\":\"")
          .contains("\"text\":\"" + lines.get(line).replace("\"", "\\\"") + "\"");
    }
  }

  private Path write(String name, List<String> lines) throws Exception {
    return Files.write(folder.resolve(name), lines, UTF_8);
  }

  private Path output() {
    return folder.resolve("output");
  }

  private Path badRows() {
    return folder.resolve("bad");
  }
}
