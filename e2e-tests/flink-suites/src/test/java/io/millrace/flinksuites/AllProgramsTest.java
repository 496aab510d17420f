// SPDX-License-Identifier: Apache-2.0
package io.millrace.flinksuites;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.flinksuites.ProgramRunner.Results;
import io.millrace.operators.sql.bootstrap.PlannerHook;
import io.millrace.operators.sql.planner.SubstitutionReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.table.test.program.TableTestProgram;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The programs of Flink's tests of nodes, with Millrace's nodes in their plans: what Flink's nodes
 * pass, Millrace's pass too. Changes on the way to the rows depend on the batches: where a program
 * is about changes, the rows have to be Flink's. So does which rows are late: where a program is
 * about late rows, watermarks have to end batches, and to be Flink's.
 */
class AllProgramsTest {
  @RegisterExtension static final MiniClusterExtension CLUSTER = new MiniClusterExtension();

  private static final boolean ALL = System.getProperty("millrace.suites").equals("all");
  private static final String SMOKE =
      "(Expand|IncrementalGroupAggregate|WindowTableFunction)TestPrograms";

  private static final Map<String, String> FLINK = Map.of("millrace.sql", "off");
  private static final Map<String, String> MILLRACE = Map.of("millrace.sql", "on");
  private static final Map<String, String> SAME_ROWS_LATE =
      Map.of(
          "millrace.sql", "on",
          "millrace.sql.watermarks", "flush",
          "millrace.sql.disabled-nodes", "WatermarkAssigner");

  /**
   * These may be about late rows, and give Flink's rows only if the same rows are late. Which of
   * them do differs from run to run.
   */
  private static final String ABOUT_LATE_ROWS =
      "(over-aggregate|temporal-sort|temporal-join|interval-join|window|group-window|deduplicate|match)-.*";

  private static final int MAX_ABOUT_LATE_ROWS = 16;

  private static final int ATTEMPTS = 3;

  /** With two inputs, the order of their watermarks decides, too, which differs from run to run. */
  private static final String WITH_TWO_INPUTS = "(temporal|interval|window)-join-.*";

  private static final int ATTEMPTS_WITH_TWO_INPUTS = 30;

  /** Their sources give deletions and say that they only insert, which Millrace refuses. */
  private static final Set<String> WITH_WRONG_SOURCES =
      Set.of("three-way-left-outer-join-updating", "four-way-mixed-join-multi-key-types-shuffled");

  private static final String REFUSAL = " in a table of insertions";

  /** How many programs run, and how many nodes of theirs are replaced, at least. */
  private static final int PROGRAMS = ALL ? 350 : 14;

  private static final Map<String, Integer> REPLACED =
      ALL
          ? Map.ofEntries(
              entry("Calc", 500),
              entry("Exchange", 120),
              entry("WatermarkAssigner", 90),
              entry("Expand", 1),
              entry("Union", 6),
              entry("Values", 20),
              entry("GroupAggregate", 30),
              entry("LocalGroupAggregate", 6),
              entry("GlobalGroupAggregate", 6),
              entry("IncrementalGroupAggregate", 2),
              entry("WindowAggregate", 3),
              entry("LocalWindowAggregate", 5),
              entry("GlobalWindowAggregate", 5),
              entry("GroupWindowAggregate", 4),
              entry("WindowTableFunction", 36),
              entry("Deduplicate", 2))
          : Map.of("Calc", 10, "IncrementalGroupAggregate", 2, "WindowTableFunction", 5);

  @BeforeAll
  static void install() throws ReflectiveOperationException {
    // First, as other tests of this process need it.
    IdentityRemoval.install();
    assertThat(PlannerHook.install()).isTrue();
  }

  @Test
  void whatFlinkPassesMillracePasses() throws Exception {
    List<String> failures = new ArrayList<>();
    List<String> aboutLateRows = new ArrayList<>();
    int programs = 0;
    for (Class<?> group : PublishedPrograms.classes()) {
      if (ALL || group.getSimpleName().matches(SMOKE)) {
        for (TableTestProgram program : PublishedPrograms.of(group)) {
          failure(program, aboutLateRows).ifPresent(failures::add);
          programs++;
        }
      }
    }
    assertThat(failures).as("programs that fail; about late rows are %s", aboutLateRows).isEmpty();
    assertThat(aboutLateRows)
        .hasSizeLessThanOrEqualTo(MAX_ABOUT_LATE_ROWS)
        .allMatch(program -> program.matches(ABOUT_LATE_ROWS));
    System.out.println("programs about late rows: " + aboutLateRows);
    System.out.println("nodes of " + programs + " programs:\n" + SubstitutionReport.text());
    assertThat(programs).isGreaterThanOrEqualTo(PROGRAMS);
    REPLACED.forEach(
        (kind, count) ->
            assertThat(SubstitutionReport.replaced(kind))
                .as("replaced nodes %s; all nodes:%n%s", kind, SubstitutionReport.text())
                .isGreaterThanOrEqualTo(count));
  }

  /**
   * What is wrong with a program on Millrace's nodes; empty if Flink's do not pass it either.
   *
   * @param aboutLateRows gets the program if it passes only if the same rows are late
   */
  private static Optional<String> failure(TableTestProgram program, List<String> aboutLateRows) {
    Outcome here = Outcome.of(program, MILLRACE);
    if (here.passes()) {
      return Optional.empty();
    }
    if (WITH_WRONG_SOURCES.contains(program.id) && here.text().contains(REFUSAL)) {
      return Optional.empty();
    }
    Outcome stock = Outcome.of(program, FLINK);
    if (!stock.passes() || here.text().equals(stock.text())) {
      return Optional.empty();
    }
    int attempts = program.id.matches(WITH_TWO_INPUTS) ? ATTEMPTS_WITH_TWO_INPUTS : ATTEMPTS;
    for (int attempt = 0; attempt < attempts; attempt++) {
      Outcome exact = Outcome.of(program, SAME_ROWS_LATE);
      if (exact.passes() || exact.text().equals(stock.text())) {
        aboutLateRows.add(program.id);
        return Optional.empty();
      }
    }
    return Optional.of(program.id + "\n  Flink: " + stock.text() + "\n  here: " + here.text());
  }

  /**
   * @param text the rows, or why the program failed
   */
  private record Outcome(boolean passes, String text) {
    static Outcome of(TableTestProgram program, Map<String, String> options) {
      try {
        Results results = ProgramRunner.run(program, options);
        return new Outcome(results.isExpected(), results.rows().toString());
      } catch (Exception e) {
        return new Outcome(false, ExceptionUtils.stringifyException(e));
      }
    }
  }
}
