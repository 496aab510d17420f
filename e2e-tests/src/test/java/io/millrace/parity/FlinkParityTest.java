// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.memory.AccessScope;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.testing.CalcResults;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExpressions;
import io.millrace.testing.RandomExpressions.FunctionCall;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RootLocaleExtension;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TestShare;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Expressions have the types and the values that stock Flink SQL gives them. */
class FlinkParityTest {
  private static final ResolutionContext CONTEXT =
      new ResolutionContext(ZoneId.of("Europe/Berlin"), FunctionRegistry.builtIn());
  private static final int ROWS = TestShare.of(1000);
  private static final int ROWS_OF_TREES = 200;
  private static final int CALLS_IN_ONE_QUERY = 32;
  private static final int TREES = TestShare.of(300);
  private static final int TREES_IN_ONE_QUERY = 10;
  private static final int MAX_DEPTH = 5;

  /** Names of functions to compare alone, with commas between them; all if it is not set. */
  private static final String FUNCTIONS_PROPERTY = "millrace.functions";

  private static final int MIN_FUNCTIONS = 100;
  private static final int MIN_DEVICE_FUNCTIONS = 80;

  // Flink's UPPER and LOWER use the default locale; ours do not.
  @RegisterExtension static final RootLocaleExtension locale = new RootLocaleExtension();
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void eachFunctionIsFlinks() throws Exception {
    RandomExpressions expressions = new RandomExpressions(random.random(), CONTEXT);
    Set<String> chosen = Set.of(System.getProperty(FUNCTIONS_PROPERTY, "").split(","));
    Map<String, List<Expression>> calls =
        expressions.calls().stream()
            .filter(call -> chosen.contains("") || chosen.contains(call.function()))
            .collect(
                Collectors.groupingBy(
                    FunctionCall::function,
                    LinkedHashMap::new,
                    Collectors.mapping(FunctionCall::expression, Collectors.toList())));
    List<List<Expression>> queries = new ArrayList<>();
    for (List<Expression> ofFunction : calls.values()) {
      for (int i = 0; i < ofFunction.size(); i += CALLS_IN_ONE_QUERY) {
        queries.add(ofFunction.subList(i, Math.min(ofFunction.size(), i + CALLS_IN_ONE_QUERY)));
      }
    }

    ParityReport report = compare(expressions, ROWS, queries);

    System.out.println(report);
    assertThat(expressions.unresolved()).isEmpty();
    assertThat(report.differences()).isEmpty();
    if (chosen.contains("")) {
      assertThat(report.functions()).hasSizeGreaterThanOrEqualTo(MIN_FUNCTIONS);
      assertThat(report.deviceFunctions()).hasSizeGreaterThanOrEqualTo(MIN_DEVICE_FUNCTIONS);
    } else {
      assertThat(report.functions()).as("functions compared").containsAll(chosen);
    }
  }

  @Test
  void randomExpressionsAreFlinks() throws Exception {
    RandomExpressions expressions = new RandomExpressions(random.random(), CONTEXT);
    List<List<Expression>> queries = new ArrayList<>();
    for (int tree = 0; tree < TREES; tree += TREES_IN_ONE_QUERY) {
      queries.add(
          IntStream.range(tree, tree + TREES_IN_ONE_QUERY)
              .mapToObj(i -> expressions.generate(1 + i % MAX_DEPTH))
              .filter(KnownDifferences::canCompare)
              .toList());
    }

    ParityReport report = compare(expressions, ROWS_OF_TREES, queries);

    System.out.println(report);
    assertThat(report.differences()).isEmpty();
  }

  /** Compares the expressions; a list becomes one query. */
  private ParityReport compare(
      RandomExpressions expressions, int rowCount, List<List<Expression>> queries)
      throws Exception {
    Schema schema = expressions.schema();
    List<List<Object>> values = expressions.rows(rowCount);
    FlinkSql flink = new FlinkSql(schema, CONTEXT.zone());
    CalcResults calc = new CalcResults(CONTEXT, device, Integer.MAX_VALUE);
    List<RowData> rows = rows(schema, values);
    try (Table table = TableBuilder.ofRows(schema, values).build(device)) {
      ParityReport report =
          new ParityReport(
              schema, values, expressions.resolver(), parts -> calc.evaluate(table, parts));
      for (List<Expression> query : queries) {
        List<FlinkResult> flinks =
            flink.evaluate(rows, query.stream().map(Expression::toString).toList());
        List<List<Object>> ours = calc.evaluate(table, query);
        for (int i = 0; i < query.size(); i++) {
          report.compare(query.get(i), ours.get(i), flinks.get(i));
        }
      }
      return report;
    }
  }

  private List<RowData> rows(Schema schema, List<List<Object>> values) {
    try (Table table = TableBuilder.ofRows(schema, values).buildOnHost(device);
        AccessScope scope = AccessScope.on(device.hostStream())) {
      RowDataDecoder decoder = new RowDataDecoder(table, scope);
      return IntStream.range(0, values.size())
          .<RowData>mapToObj(row -> decoder.decode(row).copy())
          .toList();
    }
  }
}
