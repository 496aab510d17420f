// SPDX-License-Identifier: Apache-2.0
package io.millrace.flinksuites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.millrace.operators.sql.bootstrap.PlannerHook;
import io.millrace.operators.sql.planner.SubstitutionReport;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * With the hook installed and its option off, Flink's planner gives the plans that Flink publishes
 * with its tests, to the letter. Runs in a process of its own: the other suites change plans.
 */
class FlinkPlansTest {
  private static final String PLANS = "org.apache.flink.table.planner.plan.stream.sql.";
  private static final boolean ALL = System.getProperty("millrace.suites").equals("all");

  @BeforeAll
  static void install() {
    assertThat(System.getProperty("millrace.sql")).isEqualTo("off");
    assertThat(PlannerHook.install()).isTrue();
  }

  static Stream<Arguments> suites() {
    SMOKE_AND_ALL
  }

  /**
   * @param tests how many the suite has
   */
  @ParameterizedTest
  @MethodSource("suites")
  void plansAreFlinks(String suite, int tests) {
    PublishedSuite results = PublishedSuite.run(PLANS + suite);
    assertThat(results.failed()).isEmpty();
    assertThat(results.passed().size()).as("tests that passed").isEqualTo(tests);
    assertThat(SubstitutionReport.text()).as("decisions about nodes").isEmpty();
  }
}
