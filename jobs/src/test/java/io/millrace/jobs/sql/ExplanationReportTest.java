// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.sql;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.sql.ScriptExplanation.Outcome;
import io.millrace.jobs.sql.ScriptExplanation.Result;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ExplanationReportTest {
  private static final Path PLANNER = Path.of("../operators/planner/src/main/java");

  private static final String EXPLANATION =
      """
      == Optimized Physical Plan ==
      Rank(strategy=[UndefinedStrategy], millrace=[no: it has no keys], in=[batches])
      +- Calc(select=[a], millrace=[yes], in=[batches])

      == Optimized Execution Plan ==
      Calc(select=[a, 'millrace=[no: text]' AS b], millrace=[yes], in=[batches], host=[F: of [x]])(reuse_id=[1])

      Sink(table=[t], fields=[a])
      +- Deduplicate(keep=[LastRow])
         :- Reused(reference_id=[1])
         +- TableSourceScan(table=[[s]], millrace=[no: field ARRAY[x] of rows])
      """;

  private static String report(Result... results) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new ExplanationReport(new PrintStream(out, false, UTF_8), List.of(results)).print();
    return out.toString(UTF_8);
  }

  @Test
  void readsWhatExplainSaysOfNodes() {
    assertThat(ExplainedNode.of(EXPLANATION))
        .containsExactly(
            new ExplainedNode("Calc", true, "", "F: of [x]"),
            new ExplainedNode("Sink", false, "Millrace has no such node", ""),
            new ExplainedNode("Deduplicate", false, "it has no keys", ""),
            new ExplainedNode("TableSourceScan", false, "field ARRAY[x] of rows", ""));
  }

  @Test
  void summarizesQueries() {
    ExplainedNode calc = new ExplainedNode("Calc", true, "", "");
    ExplainedNode scan = new ExplainedNode("TableSourceScan", false, "its source gives rows", "");
    assertThat(
            report(
                new Result(1, "SET 'a' = 'b';", Outcome.DEFINED, List.of(), ""),
                new Result(2, "SELECT\n  1;", Outcome.PLANNED, List.of(calc), ""),
                new Result(4, "SELECT 2;", Outcome.PLANNED, List.of(calc, scan), ""),
                new Result(5, "SHOW TABLES;", Outcome.LEFT_OUT, List.of(), ""),
                new Result(6, "SELECT;", Outcome.FAILED, List.of(), "one\ntwo")))
        .startsWith(
            """
            line 2: SELECT 1;
              Millrace  Calc
            line 4: SELECT 2;
              Millrace  Calc
              Flink     TableSourceScan           its source gives rows
            line 5, left out: SHOW TABLES;
            line 6, failed: SELECT;
                one
                two

            2 of 3 nodes would run on Millrace's operators; 1 of 2 queries wholly
            What would change the others:
              1 x TableSourceScan: its source gives rows
            """);
  }

  /** Who changes the words of a reason changes those of its advice. */
  @Test
  void adviceIsForReasonsThatThePlannerGives() throws IOException {
    String sources;
    try (Stream<Path> files = Files.walk(PLANNER)) {
      sources =
          files
              .filter(Files::isRegularFile)
              .map(ExplanationReportTest::text)
              .collect(Collectors.joining());
    }
    assertThat(Advice.ALL).isNotEmpty().allMatch(advice -> sources.contains(advice.reason()));
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
