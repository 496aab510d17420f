// SPDX-License-Identifier: Apache-2.0
package io.millrace.flinksuites;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.planner.factories.TestValuesTableFactory;
import org.apache.flink.table.planner.plan.nodes.exec.testutils.SemanticTestBase;
import org.apache.flink.table.test.program.SinkTestStep;
import org.apache.flink.table.test.program.SourceTestStep;
import org.apache.flink.table.test.program.TableTestProgram;
import org.apache.flink.table.test.program.TestStep;
import org.apache.flink.types.Row;

/**
 * Runs a program as a whole: Flink's tests stop some of them in the middle and go on from a
 * savepoint.
 */
final class ProgramRunner extends SemanticTestBase {
  private static final long LIMIT_SECONDS = 60;

  @Override
  public List<TableTestProgram> programs() {
    return List.of();
  }

  /**
   * What a program gives.
   *
   * @param rows of each sink after all changes, in no order
   * @param isExpected whether the sinks got what Flink's tests expect, in any order: rows or, if
   *     the program is about changes, changes
   */
  record Results(Map<String, List<String>> rows, boolean isExpected) {}

  /**
   * Runs a program.
   *
   * @param options of the session, by their keys
   * @throws Exception if the program fails, or runs longer than a minute
   */
  static Results run(TableTestProgram program, Map<String, String> options) throws Exception {
    TableEnvironment environment = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
    options.forEach(environment.getConfig()::set);
    try {
      new ProgramRunner().run(program, environment);
      List<SinkTestStep> sinks = program.getSetupSinkTestSteps();
      Map<String, List<String>> rows = new TreeMap<>();
      sinks.forEach(
          sink ->
              rows.put(sink.name, sorted(TestValuesTableFactory.getResultsAsStrings(sink.name))));
      return new Results(rows, sinks.stream().allMatch(ProgramRunner::isExpected));
    } finally {
      TestValuesTableFactory.clearAllData();
    }
  }

  private static boolean isExpected(SinkTestStep sink) {
    List<String> results =
        sink.shouldTestChangelogData()
            ? TestValuesTableFactory.getRawResultsAsStrings(sink.name)
            : TestValuesTableFactory.getResultsAsStrings(sink.name);
    return sorted(results).equals(sorted(sink.getExpectedAsStrings()));
  }

  private static List<String> sorted(List<String> rows) {
    return rows.stream().sorted().toList();
  }

  private void run(TableTestProgram program, TableEnvironment environment) throws Exception {
    applyDefaultEnvironmentOptions(environment.getConfig());
    for (TestStep step : program.setupSteps) {
      if (step instanceof SourceTestStep source) {
        runStep(whole(source), environment);
      } else if (step instanceof SinkTestStep sink) {
        sink.apply(environment, Map.of("connector", "values", "sink-insert-only", "false"));
      } else {
        runStep(step, environment);
      }
    }
    TableResult result = program.getRunSqlTestStep().apply(environment);
    try {
      result.await(LIMIT_SECONDS, TimeUnit.SECONDS);
    } finally {
      result.getJobClient().ifPresent(job -> job.cancel().exceptionally(ended -> null).join());
    }
  }

  private static SourceTestStep whole(SourceTestStep source) {
    SourceTestStep.Builder whole =
        SourceTestStep.newBuilder(source.name)
            .addSchema(source.schemaComponents)
            .addOptions(source.options)
            .addPartitionKeys(source.partitionKeys.toArray(String[]::new))
            .producedValues(
                Stream.of(source.dataBeforeRestore, source.dataAfterRestore)
                    .flatMap(List::stream)
                    .toArray(Row[]::new));
    source.indexes.forEach(index -> whole.addIndex(index.toArray(String[]::new)));
    return (source.distribution == null ? whole : whole.addDistribution(source.distribution))
        .build();
  }
}
