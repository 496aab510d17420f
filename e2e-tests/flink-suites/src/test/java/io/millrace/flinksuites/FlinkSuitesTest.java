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
 * Suites that Flink publishes pass with Millrace's nodes in their plans. How many tests they have
 * and how many nodes are replaced is claimed: a suite that passes on Flink's nodes shows nothing.
 */
class FlinkSuitesTest {
  private static final String SQL = "org.apache.flink.table.planner.runtime.stream.sql.";
  private static final String FUNCTIONS = "org.apache.flink.table.planner.functions.";
  private static final boolean ALL = System.getProperty("millrace.suites").equals("all");

  @BeforeAll
  static void install() throws ReflectiveOperationException {
    IdentityRemoval.install();
    assertThat(PlannerHook.install()).isTrue();
  }

  static Stream<Arguments> suites() {
    Stream<Arguments> smoke =
        Stream.of(
            arguments(SQL + "CalcITCase", 33, 0, 30),
            arguments(FUNCTIONS + "UrlFunctionsITCase", 33, 0, 33));
    Stream<Arguments> all =
        Stream.of(
            arguments(FUNCTIONS + "CaseFunctionsITCase", 2, 0, 2),
            arguments(FUNCTIONS + "IfThenElseFunctionITCase", 6, 0, 6),
            arguments(FUNCTIONS + "CoalesceFunctionITCase", 12, 0, 12),
            arguments(FUNCTIONS + "ComparisonFunctionITCase", 42, 0, 42),
            arguments(FUNCTIONS + "GreatestLeastFunctionsITCase", 43, 0, 39),
            arguments(FUNCTIONS + "ImplicitConversionEqualsFunctionITCase", 39, 0, 32),
            arguments(FUNCTIONS + "MathFunctionsITCase", 77, 0, 75),
            arguments(FUNCTIONS + "RegexpFunctionsITCase", 155, 0, 147),
            arguments(FUNCTIONS + "LikeFunctionITCase", 71, 0, 64),
            arguments(FUNCTIONS + "InetFunctionsITCase", 156, 0, 156),
            arguments(FUNCTIONS + "TimeFunctionsITCase", 468, 0, 453),
            arguments(FUNCTIONS + "StringFunctionsITCase", 303, 0, 282),
            arguments(FUNCTIONS + "MiscFunctionsITCase", 62, 0, 50),
            arguments(FUNCTIONS + "RowFunctionITCase", 11, 0, 11),
            arguments(FUNCTIONS + "MapFunctionITCase", 84, 2, 60),
            arguments(FUNCTIONS + "CollectionFunctionsITCase", 623, 1, 472),
            arguments(FUNCTIONS + "ConstructedAccessFunctionsITCase", 7, 0, 3),
            arguments(FUNCTIONS + "FieldAccessFromTableITCase", 24, 0, 12),
            arguments(FUNCTIONS + "CastFunctionMiscITCase", 60, 0, 14),
            arguments(FUNCTIONS + "CastFunctionITCase", 691, 6, 201),
            arguments(FUNCTIONS + "JsonFunctionsITCase", 480, 12, 442));
    return ALL ? Stream.concat(smoke, all) : smoke;
  }

  /**
   * @param tests how many of the suite pass
   * @param others how many expect an exception of Flink's where a row fails, and get Millrace's
   * @param calcs how many Calcs of its queries are replaced, at least
   */
  @ParameterizedTest
  @MethodSource("suites")
  void suitePassesOnMillrace(String suite, int tests, int others, long calcs) {
    long before = SubstitutionReport.replaced("Calc");
    PublishedSuite results = PublishedSuite.run(suite);
    assertThat(results.failed()).isEmpty();
    assertThat(results.passed().size()).as("tests that passed").isEqualTo(tests);
    assertThat(results.failedOtherwise()).as("tests with another exception").hasSize(others);
    assertThat(SubstitutionReport.replaced("Calc") - before)
        .as("replaced Calcs; all nodes:%n%s", SubstitutionReport.text())
        .isGreaterThanOrEqualTo(calcs);
  }
}
