// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The table of a page of documentation that lists what Millrace and Flink read differently. */
final class DifferencesTable {
  private static final Path DOCUMENTATION = Path.of("../docs");
  private static final boolean WRITE = "write".equals(System.getProperty("millrace.reference"));

  private final Path page;
  private final String head;

  /**
   * @param page the file below docs
   * @param columns before those of Millrace and Flink, with a bar between
   */
  DifferencesTable(String page, String columns) {
    this.page = DOCUMENTATION.resolve(page);
    this.head = "| " + columns + " | Millrace | Flink |\n|---|---|---|---|\n";
  }

  /** Writes the rows to the page if the tests are told so, and asserts that they are there. */
  void assertRows(Stream<String> rows) throws IOException {
    assumeTrue(Files.exists(page), "only where the sources are");
    String table = head + rows.map(row -> row + "\n").collect(Collectors.joining());
    String text = Files.readString(page);
    int start = text.indexOf(head);
    assertThat(start).isPositive();
    int end = text.indexOf("\n\n", start) + 1;
    if (WRITE) {
      text = text.substring(0, start) + table + text.substring(end);
      Files.writeString(page, text);
    }
    assertThat(text)
        .as("%s; write it again with -Dmillrace.reference=write", page)
        .contains(table + "\n");
  }
}
