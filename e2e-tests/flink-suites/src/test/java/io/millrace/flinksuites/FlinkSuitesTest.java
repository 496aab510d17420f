// SPDX-License-Identifier: Apache-2.0
package io.millrace.flinksuites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.millrace.operators.sql.bootstrap.PlannerHook;
import io.millrace.operators.sql.planner.SubstitutionReport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
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
  private static final double MIN_SHARE_OF_CALCS = 0.9;
  private static long replacedInFunctions;
  private static long calcsOfFunctions;

  private static final boolean ALL = System.getProperty("millrace.suites").equals("all");

  @BeforeAll
  static void install() throws ReflectiveOperationException {
    IdentityRemoval.install();
    assertThat(PlannerHook.install()).isTrue();
  }

  static Stream<Arguments> suites() {
    Stream<Arguments> smoke =
        Stream.of(
            arguments(SQL + "CalcITCase", 33, 32),
            arguments(FUNCTIONS + "UrlFunctionsITCase", 33, 33));
    Stream<Arguments> all =
        Stream.of(
            arguments(FUNCTIONS + "CaseFunctionsITCase", 2, 2),
            arguments(FUNCTIONS + "IfThenElseFunctionITCase", 6, 6),
            arguments(FUNCTIONS + "CoalesceFunctionITCase", 12, 12),
            arguments(FUNCTIONS + "ComparisonFunctionITCase", 42, 42),
            arguments(FUNCTIONS + "GreatestLeastFunctionsITCase", 43, 39),
            arguments(FUNCTIONS + "ImplicitConversionEqualsFunctionITCase", 39, 32),
            arguments(FUNCTIONS + "MathFunctionsITCase", 77, 75),
            arguments(FUNCTIONS + "RegexpFunctionsITCase", 155, 147),
            arguments(FUNCTIONS + "LikeFunctionITCase", 71, 64),
            arguments(FUNCTIONS + "InetFunctionsITCase", 156, 156),
            arguments(FUNCTIONS + "TimeFunctionsITCase", 468, 453),
            arguments(FUNCTIONS + "StringFunctionsITCase", 303, 282),
            arguments(FUNCTIONS + "MiscFunctionsITCase", 62, 53),
            arguments(FUNCTIONS + "RowFunctionITCase", 11, 11),
            arguments(FUNCTIONS + "MapFunctionITCase", 86, 60),
            arguments(FUNCTIONS + "CollectionFunctionsITCase", 624, 472),
            arguments(FUNCTIONS + "ConstructedAccessFunctionsITCase", 7, 4),
            arguments(FUNCTIONS + "FieldAccessFromTableITCase", 24, 22),
            arguments(FUNCTIONS + "CastFunctionMiscITCase", 60, 24),
            arguments(FUNCTIONS + "CastFunctionITCase", 697, 201),
            arguments(FUNCTIONS + "HashcodeITCase", 1, 0),
            arguments(FUNCTIONS + "RandFunctionITCase", 18, 6),
            arguments(FUNCTIONS + "CastFunctionMiscLegacyITCase", 1, 0),
            arguments(FUNCTIONS + "StructuredFunctionsITCase", 33, 0),
            arguments(FUNCTIONS + "BitmapFunctionsITCase", 159, 139),
            arguments(FUNCTIONS + "ArrayAggFunctionITCase", 8, 0),
            arguments(FUNCTIONS + "BitmapAggFunctionITCase", 64, 0),
            arguments(FUNCTIONS + "JsonAggregationFunctionsITCase", 66, 66),
            arguments(FUNCTIONS + "MathAggFunctionITCase", 20, 32),
            arguments(FUNCTIONS + "MiscAggFunctionITCase", 14, 0),
            arguments(FUNCTIONS + "PercentileAggFunctionITCase", 58, 90),
            arguments(FUNCTIONS + "JsonFunctionsITCase", 492, 442));
    return ALL ? Stream.concat(smoke, all) : smoke;
  }

  /**
   * @param tests how many tests the suite has
   * @param calcs how many Calcs of its queries are replaced, at least
   */
  @ParameterizedTest
  @MethodSource("suites")
  void suitePassesOnMillrace(String suite, int tests, long calcs) {
    long before = SubstitutionReport.replaced("Calc");
    long calcsBefore = SubstitutionReport.total("Calc");
    PublishedSuite results = PublishedSuite.run(suite);
    long replaced = SubstitutionReport.replaced("Calc") - before;
    long all = SubstitutionReport.total("Calc") - calcsBefore;
    System.out.printf(
        "%s: %d tests passed, %d of %d Calcs replaced%n",
        suite, results.passed().size(), replaced, all);
    if (suite.startsWith(FUNCTIONS)) {
      replacedInFunctions += replaced;
      calcsOfFunctions += all;
    }
    assertThat(results.failed()).isEmpty();
    assertThat(results.passed().size()).as("tests that passed").isEqualTo(tests);
    assertThat(replaced)
        .as("replaced Calcs; all nodes:%n%s", SubstitutionReport.text())
        .isGreaterThanOrEqualTo(calcs);
  }

  /** The bar holds for the suites of functions together. */
  @AfterAll
  static void mostCalcsAreReplaced() {
    System.out.printf(
        "suites of functions: %d of %d Calcs replaced%nnodes:%n%s%n",
        replacedInFunctions, calcsOfFunctions, SubstitutionReport.text());
    assertThat(replacedInFunctions / (double) calcsOfFunctions)
        .isGreaterThanOrEqualTo(MIN_SHARE_OF_CALCS);
  }
}
