// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.function;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.sql.planner.aggregate.AggregateCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The checked-in page of what is supported of Flink SQL matches the code. */
class SqlSupportTest {
  private static final Path PAGE = Path.of("../docs/sql-support.md");
  private static final boolean WRITE = "write".equals(System.getProperty("millrace.reference"));

  @Test
  void pageIsUpToDate() throws IOException {
    String text = SqlSupportPage.text();
    if (WRITE) {
      Files.writeString(PAGE, text);
    }
    assertThat(Files.readString(PAGE))
        .as("%s; write it again with -Dmillrace.reference=write", PAGE)
        .isEqualTo(text);
  }

  @Test
  void eachAggregateOfFlinkIsThereOrAKnownGap() {
    Set<String> missing = new TreeSet<>(FlinkFunctions.aggregate());
    missing.removeAll(AggregateCalls.names());
    assertThat(missing)
        .isEqualTo(
            Arrays.stream(AggregateGap.values())
                .flatMap(gap -> gap.names().stream())
                .collect(Collectors.toSet()));
  }
}
