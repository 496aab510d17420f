// SPDX-License-Identifier: Apache-2.0
package io.millrace.flinksuites;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.flinksuites.ProgramRunner.Results;
import io.millrace.operators.sql.bootstrap.PlannerHook;
import io.millrace.operators.sql.planner.SubstitutionReport;
import io.millrace.operators.sql.table.SqlMode;
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
 * is about changes, the rows have to be Flink's.
 */
class AllProgramsTest {
  @RegisterExtension static final MiniClusterExtension CLUSTER = new MiniClusterExtension();

  private static final boolean ALL = System.getProperty("millrace.suites").equals("all");
  private static final String SMOKE =
      "(Expand|IncrementalGroupAggregate|MultiJoin|WindowTableFunction)TestPrograms";

  /** Their sources give deletions and say that they only insert, which Millrace refuses. */
  private static final Set<String> WITH_WRONG_SOURCES =
      Set.of("three-way-left-outer-join-updating", "four-way-mixed-join-multi-key-types-shuffled");

  private static final String REFUSAL = " in a table of insertions";

  /** How many programs run, and how many nodes of theirs are replaced, at least. */
  private static final int PROGRAMS = ALL ? 274 : 25;

  private static final Map<String, Integer> REPLACED =
      ALL
          ? Map.of(
              "Calc", 360,
              "Exchange", 190,
              "WatermarkAssigner", 90,
              "GroupAggregate", 20,
              "IncrementalGroupAggregate", 2,
              "WindowAggregate", 3,
              "GlobalWindowAggregate", 5,
              "GroupWindowAggregate", 4,
              "WindowTableFunction", 36)
          : Map.of("Calc", 20, "IncrementalGroupAggregate", 2, "WindowTableFunction", 10);

  @BeforeAll
  static void install() {
    assertThat(PlannerHook.install()).isTrue();
  }

  @Test
  void whatFlinkPassesMillracePasses() throws Exception {
    List<String> failures = new ArrayList<>();
    int programs = 0;
    for (Class<?> group : PublishedPrograms.classes()) {
      if (ALL || group.getSimpleName().matches(SMOKE)) {
        for (TableTestProgram program : PublishedPrograms.of(group)) {
          failure(program).ifPresent(failures::add);
          programs++;
        }
      }
    }
    assertThat(failures).isEmpty();
    assertThat(programs).isGreaterThanOrEqualTo(PROGRAMS);
    REPLACED.forEach(
        (kind, count) ->
            assertThat(SubstitutionReport.replaced(kind))
                .as("replaced nodes %s; all nodes:%n%s", kind, SubstitutionReport.text())
                .isGreaterThanOrEqualTo(count));
  }

  /** What is wrong with a program on Millrace's nodes; empty if Flink's do not pass it either. */
  private static Optional<String> failure(TableTestProgram program) {
    Outcome here = Outcome.of(program, SqlMode.ON);
    if (here.passes()) {
      return Optional.empty();
    }
    if (WITH_WRONG_SOURCES.contains(program.id) && here.text().contains(REFUSAL)) {
      return Optional.empty();
    }
    Outcome stock = Outcome.of(program, SqlMode.OFF);
    return !stock.passes() || here.text().equals(stock.text())
        ? Optional.empty()
        : Optional.of(program.id + "\n  Flink: " + stock.text() + "\n  here: " + here.text());
  }

  /**
   * @param text the rows, or why the program failed
   */
  private record Outcome(boolean passes, String text) {
    static Outcome of(TableTestProgram program, SqlMode mode) {
      try {
        Results results = ProgramRunner.run(program, mode);
        return new Outcome(results.isExpected(), results.rows().toString());
      } catch (Exception e) {
        return new Outcome(false, ExceptionUtils.stringifyException(e));
      }
    }
  }
}
