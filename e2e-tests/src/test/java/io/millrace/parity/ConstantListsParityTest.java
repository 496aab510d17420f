// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.memory.AccessScope;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.testing.CalcResults;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.ExpressionValues;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** IN, NOT IN and CASE of constants, few and many, as in stock Flink SQL. */
class ConstantListsParityTest {
  private static final ResolutionContext CONTEXT =
      new ResolutionContext(ZoneId.of("UTC"), FunctionRegistry.builtIn());
  private static final double NAN = Double.NaN;
  private static final double INFINITY = Double.POSITIVE_INFINITY;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** Flink has equality for a list of one number, and a hash set for one of more. */
  @Test
  void zerosAndNaNs() throws Exception {
    Schema schema =
        Schema.of(
            Field.of("d", DataType.FLOAT64),
            Field.of("f", DataType.FLOAT32),
            new Field("n", DataType.FLOAT64, false),
            Field.of("x", DataType.FLOAT64));
    List<List<Object>> rows = new ArrayList<>();
    for (double value : new double[] {0.0, -0.0, 1.0, NAN, 1.5, INFINITY}) {
      rows.add(List.of(value, (float) value, value, -value));
    }
    rows.add(Arrays.asList(null, null, 1.0, 1.0));
    List<Object[]> lists = new ArrayList<>();
    lists.add(new Object[] {0});
    lists.add(new Object[] {0, 0});
    lists.add(new Object[] {0, 1});
    lists.add(new Object[] {1, 7});
    lists.add(new Object[] {0, new BigDecimal("1.5"), 3});
    lists.add(new Object[] {0.0, -0.0});
    lists.add(new Object[] {-0.0});
    lists.add(new Object[] {-0.0, 5.0});
    lists.add(new Object[] {NAN});
    lists.add(new Object[] {NAN, 0.0});
    lists.add(new Object[] {NAN, 1.0, 0.0});
    lists.add(new Object[] {INFINITY, 0.0});
    lists.add(new Object[] {INFINITY, 0.0, 1.0});
    lists.add(new Object[] {0, nullOf(DataType.FLOAT64)});
    lists.add(new Object[] {0, 1, nullOf(DataType.FLOAT64)});
    lists.add(new Object[] {0, col("x")});
    lists.add(new Object[] {0, 1, col("x")});
    lists.add(IntStream.range(0, 9).boxed().toArray());
    lists.add(IntStream.range(0, 40).mapToObj(i -> i * 0.5).toArray());

    List<Expression> expressions = new ArrayList<>();
    for (Object[] list : lists) {
      boolean isFinite = !List.of(list).contains(NAN) && !List.of(list).contains(INFINITY);
      // Flink casts neither to FLOAT.
      for (String column : isFinite ? List.of("d", "f", "n") : List.of("d", "n")) {
        expressions.add(call("IN", prepend(col(column), list)));
        expressions.add(call("NOT IN", prepend(col(column), list)));
      }
    }
    List<Expression> conditions = new ArrayList<>();
    List<Expression> results = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      conditions.add(col("d").isEqual(i - 3.0));
      results.add(lit("number " + i));
    }
    results.add(lit("none"));
    expressions.add(new Expression.Case(conditions, results));

    assertNoDifferences(schema, rows, expressions);
  }

  private static Object[] prepend(Expression first, Object... rest) {
    return Stream.concat(Stream.of(first), Arrays.stream(rest)).toArray();
  }

  static Stream<DataType> types() {
    return DataTypes.flat().stream()
        .filter(type -> !type.equals(DataType.BINARY) && !type.withTimeZone());
  }

  @ParameterizedTest
  @MethodSource("types")
  void listsOfEachLength(DataType type) throws Exception {
    ExpressionValues values = new ExpressionValues(random.random());
    Schema schema =
        Schema.of(Field.of("a", type), new Field("b", type, false), Field.of("i", DataType.INT32));
    List<Expression> constants =
        Stream.<Expression>generate(() -> new Expression.Literal(values.literal(type), type))
            .limit(12)
            .toList();
    List<Expression> expressions = new ArrayList<>();
    for (int count : new int[] {2, 7, 8, 12}) {
      Object[] list = constants.subList(0, count).toArray();
      for (String column : List.of("a", "b")) {
        expressions.add(call("IN", prepend(col(column), list)));
        expressions.add(call("NOT IN", prepend(col(column), list)));
      }
      expressions.add(call("IN", prepend(col("a"), prepend(nullOf(type), list))));
      expressions.add(call("NOT IN", prepend(col("a"), prepend(col("b"), list))));
    }
    // Rows are found by an index, because random values are hardly equal.
    List<Expression> conditions = new ArrayList<>();
    for (int i = 0; i < constants.size(); i++) {
      conditions.add(col("i").isEqual(i));
    }
    List<Expression> results = new ArrayList<>(constants);
    results.add(nullOf(type));
    Expression chosen = new Expression.Case(conditions, results);
    expressions.add(chosen);
    expressions.add(call("IN", prepend(chosen, constants.subList(0, 8).toArray())));
    expressions.add(call("NOT IN", prepend(chosen, constants.subList(2, 12).toArray())));

    List<List<Object>> rows = values.rows(schema, 40);
    List<List<Object>> indexed = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      List<Object> row = new ArrayList<>(rows.get(i));
      row.set(2, i % 14);
      indexed.add(row);
    }
    assertNoDifferences(schema, indexed, expressions);
  }

  private void assertNoDifferences(
      Schema schema, List<List<Object>> rows, List<Expression> expressions) throws Exception {
    CalcResults calc = new CalcResults(CONTEXT, device, Integer.MAX_VALUE);
    ExpressionResolver resolver = new ExpressionResolver(schema, CONTEXT);
    List<FlinkResult> flinks =
        new FlinkSql(schema, CONTEXT.zone())
            .evaluate(rowData(schema, rows), expressions.stream().map(Object::toString).toList());
    try (Table table = TableBuilder.ofRows(schema, rows).build(device)) {
      ParityReport report =
          new ParityReport(schema, rows, resolver, parts -> calc.evaluate(table, parts));
      List<List<Object>> ours = calc.evaluate(table, expressions);
      for (int i = 0; i < expressions.size(); i++) {
        assertThat(flinks.get(i).isRefused()).as(expressions.get(i).toString()).isFalse();
        report.compare(expressions.get(i), ours.get(i), flinks.get(i));
      }
      assertThat(report.differences()).isEmpty();
    }
  }

  private List<RowData> rowData(Schema schema, List<List<Object>> rows) {
    try (Table table = TableBuilder.ofRows(schema, rows).buildOnHost(device);
        AccessScope scope = AccessScope.on(device.hostStream())) {
      RowDataDecoder decoder = new RowDataDecoder(table, scope);
      return IntStream.range(0, rows.size())
          .<RowData>mapToObj(row -> decoder.decode(row).copy())
          .toList();
    }
  }
}
