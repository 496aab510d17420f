// SPDX-License-Identifier: Apache-2.0
package io.millrace.flinksuites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.millrace.operators.sql.bootstrap.PlannerHook;
import io.millrace.operators.sql.planner.SubstitutionReport;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * With the hook installed and its option off, Flink's planner gives the plans that Flink publishes
 * with its tests, to the letter. Runs in a process of its own: the other suites change plans.
 */
@Tag("off")
class FlinkPlansTest {
  private static final String PLANS = "org.apache.flink.table.planner.plan.stream.sql.";
  private static final boolean ALL = System.getProperty("millrace.suites").equals("all");

  /**
   * Suites with the number of their tests. Not here are DeltaJoinTest, TableLineageGraphTest,
   * TableSinkTest and join.LookupJoinTest, which read files that only Flink's sources have;
   * agg.IncrementalAggregateTest, which JUnit refuses outside of Flink's build for its two
   * providers of parameters; and agg.WindowAggregateTest, whose assumptions leave out some tests.
   */
  private static final String SMOKE = "CalcTest 40, UnionTest 5, agg.AggregateTest 32";

  private static final String OTHERS =
      """
      CalcMergeTest 9, ChangelogNormalizeOptimizationTest 21, ColumnExpansionTest 10,
      DagOptimizationTest 21, DeduplicateTest 12, DynamicFunctionPlanTest 4,
      FilterableSourceTest 7, FromChangelogTest 2, InsertIntoValuesTest 1,
      LegacyTableFactoryTest 2, LimitTest 36, LimitableSourceTest 36,
      MatchRecognizeTest 9, MLEvaluateTableFunctionTest 68, MLPredictTableFunctionTest 78,
      MiniBatchIntervalInferTest 14, ModifiedMonotonicityTest 19, MultiJoinTest 60,
      NonDeterministicDagTest 156, NullTypeTest 8, PartitionableSinkTest 6,
      PartitionableSourceTest 21, ProcessTableFunctionTest 58, RankTest 45,
      RecursiveWithTest 1, RelTimeIndicatorConverterTest 16, SetOperatorsTest 16,
      SortLimitTest 59, SortTest 9, SourceWatermarkTest 12, StreamSinkReuseTest 10,
      SubplanReuseTest 28, TableScanTest 38, TableSourceTest 18, ToChangelogTest 3,
      UnnestTest 28, ValuesTest 4, VectorSearchTableFunctionTest 27,
      WindowDeduplicateTest 9, WindowRankTest 20, WindowTableFunctionTest 39,
      agg.DistinctAggregateTest 72, agg.GroupWindowTest 34, agg.GroupingSetsTest 37,
      agg.OverAggregateTest 32, agg.TwoStageAggregateTest 7,
      join.IntervalJoinTest 28, join.JoinReorderTest 50, join.JoinTest 55,
      join.SemiAntiJoinTest 81, join.TemporalFunctionJoinTest 6, join.TemporalJoinTest 24,
      join.WindowJoinTest 41
      """;

  @BeforeAll
  static void install() {
    // Flink's tests spell names of columns in small letters of this locale.
    Locale.setDefault(Locale.ENGLISH);
    assertThat(System.getProperty("millrace.sql")).isEqualTo("off");
    assertThat(PlannerHook.install()).isTrue();
  }

  static Stream<Arguments> suites() {
    return Arrays.stream((ALL ? SMOKE + ", " + OTHERS : SMOKE).strip().split(",\\s+"))
        .map(suite -> suite.split(" "))
        .map(suite -> arguments(suite[0], Integer.parseInt(suite[1])));
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
