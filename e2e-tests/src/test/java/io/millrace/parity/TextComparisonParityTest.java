// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.CalcResults;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts compare with numbers, dates and times as in stock Flink SQL. */
class TextComparisonParityTest {
  private static final ResolutionContext CONTEXT =
      new ResolutionContext(ZoneId.of("Europe/Berlin"), FunctionRegistry.builtIn());

  /** A value as text, and a text that it is compared with. */
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("v", DataType.STRING),
          Field.of("t", DataType.STRING),
          new Field("vn", DataType.STRING, false),
          new Field("tn", DataType.STRING, false));

  private static final List<String> TEXTS =
      List.of(
          "1",
          " 2 ",
          "1.5",
          "1.504",
          "300",
          "70000",
          "5000000000",
          "99999999999999999999",
          "1e3",
          "abc",
          "",
          "10:20:30",
          "10:20:30.5",
          "2020-01-01",
          "2020-1-2",
          "2020-01-01 10:20:30",
          "2020-01-01 10:20:30.123456789");

  private static final List<DataType> NUMBERS =
      List.of(
          DataType.INT8,
          DataType.INT64,
          DataType.FLOAT32,
          DataType.FLOAT64,
          DataType.decimal(10, 2),
          DataType.decimal(38, 30));
  private static final List<DataType> TIMESTAMPS =
      List.of(
          DataType.timestamp(0),
          DataType.timestamp(6),
          DataType.timestamp(9),
          DataType.timestamp(3, true));

  private static final List<String> EQUALITIES =
      List.of("=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM");
  private static final List<String> ORDERS = List.of("<", "<=", ">", ">=");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  static Stream<Arguments> types() {
    List<Arguments> types = new ArrayList<>();
    NUMBERS.forEach(type -> types.add(Arguments.of(type, List.of("1", "2"), ORDERS)));
    List<String> all = Stream.concat(EQUALITIES.stream(), ORDERS.stream()).toList();
    types.add(Arguments.of(DataType.DATE, List.of("2020-01-01", "2020-01-02"), all));
    types.add(Arguments.of(DataType.TIME, List.of("10:20:30", "10:20:30.5"), all));
    List<String> timestamps = List.of("2020-01-01 10:20:30", "2020-01-01 10:20:30.123456789");
    TIMESTAMPS.forEach(type -> types.add(Arguments.of(type, timestamps, all)));
    return types.stream();
  }

  @ParameterizedTest
  @MethodSource("types")
  void aTextIsCastToTheTypeOfTheOther(DataType type, List<String> values, List<String> operators)
      throws Exception {
    List<List<Object>> rows = rows(values);
    List<Expression> expressions = expressions(type, values, operators);
    ExpressionResolver resolver = new ExpressionResolver(SCHEMA, CONTEXT);
    CalcResults calc = new CalcResults(CONTEXT, device, Integer.MAX_VALUE);

    List<FlinkResult> flinks = flink(rows, expressions.stream().map(Object::toString).toList());
    ParityReport report;
    try (Table table = TableBuilder.ofRows(SCHEMA, rows).build(device)) {
      report = new ParityReport(SCHEMA, rows, resolver, parts -> calc.evaluate(table, parts));
      List<List<Object>> ours = calc.evaluate(table, expressions);
      for (int i = 0; i < expressions.size(); i++) {
        report.compare(expressions.get(i), ours.get(i), flinks.get(i));
      }
    }

    assertThat(report.differences()).isEmpty();
  }

  /** Each value with each text, and nulls. */
  private static List<List<Object>> rows(List<String> values) {
    List<List<Object>> rows = new ArrayList<>();
    for (String value : values) {
      TEXTS.forEach(text -> rows.add(List.of(value, text, value, text)));
    }
    String value = values.get(0);
    rows.add(Arrays.asList(null, value, value, value));
    rows.add(Arrays.asList(value, null, value, value));
    rows.add(Arrays.asList(null, null, value, value));
    return rows;
  }

  private static List<Expression> expressions(
      DataType type, List<String> values, List<String> operators) {
    Expression value = col("v").cast(type);
    Expression valueNotNull = col("vn").cast(type);
    String text = values.get(1);
    List<Expression> expressions = new ArrayList<>();
    for (String operator : operators) {
      expressions.add(call(operator, value, col("t")));
      expressions.add(call(operator, col("t"), value));
      expressions.add(call(operator, valueNotNull, col("tn")));
      expressions.add(call(operator, value, text));
      expressions.add(call(operator, text, valueNotNull));
    }
    expressions.add(call("BETWEEN", value, col("t"), text));
    expressions.add(call("NOT BETWEEN", value, values.get(0), col("tn")));
    expressions.add(call("IN", value, col("t")));
    expressions.add(call("IN", value, values.get(0), text));
    expressions.add(call("NOT IN", valueNotNull, col("tn"), text));
    if (operators.containsAll(EQUALITIES)) {
      expressions.add(call("NULLIF", value, col("t")));
    }
    return expressions;
  }

  private static List<FlinkResult> flink(List<List<Object>> rows, List<String> expressions)
      throws Exception {
    List<RowData> data = new ArrayList<>();
    for (List<Object> row : rows) {
      data.add(
          GenericRowData.of(
              row.stream().map(text -> StringData.fromString((String) text)).toArray()));
    }
    return new FlinkSql(SCHEMA, CONTEXT.zone()).evaluate(data, expressions);
  }

  @ParameterizedTest
  @ValueSource(strings = {"=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "NULLIF"})
  void noTextEqualsANumber(String function) throws Exception {
    assertBothRefuse(call(function, col("v").cast(DataType.INT32), col("t")));
    assertBothRefuse(call(function, col("t"), col("v").cast(DataType.decimal(10, 2))));
    assertBothRefuse(call(function, col("v").cast(DataType.FLOAT64), "1"));
  }

  @Test
  void listsOfTextsAndOthersAreRefused() throws Exception {
    assertBothRefuse(call("IN", col("v").cast(DataType.INT32), 1, "2"));
    assertBothRefuse(
        call("IN", col("v").cast(DataType.DATE), "2020-01-01", col("vn").cast(DataType.DATE)));
    assertBothRefuse(call("COALESCE", col("v").cast(DataType.DATE), "2020-01-01"));
    assertBothRefuse(call("GREATEST", col("v").cast(DataType.DATE), "2020-01-01"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "=",
        "<>",
        "<",
        "<=",
        ">",
        ">=",
        "IS DISTINCT FROM",
        "IS NOT DISTINCT FROM",
        "IN",
        "NOT IN",
        "NULLIF",
        "GREATEST",
        "LEAST"
      })
  void typesWithoutACommonTypeAreNotCompared(String function) throws Exception {
    Expression date = col("v").cast(DataType.DATE);
    Expression time = col("v").cast(DataType.TIME);
    Expression timestamp = col("t").cast(DataType.timestamp(3));
    Expression instant = col("t").cast(DataType.timestamp(9, true));
    Expression number = col("t").cast(DataType.INT32);
    assertBothRefuse(call(function, date, timestamp));
    assertBothRefuse(call(function, timestamp, date));
    assertBothRefuse(call(function, date, instant));
    assertBothRefuse(call(function, time, timestamp));
    assertBothRefuse(call(function, date, time));
    assertBothRefuse(call(function, date, number));
    assertBothRefuse(call(function, col("v").cast(DataType.BINARY), col("t")));
  }

  @Test
  void datesAndTimestampsAreNotMixed() throws Exception {
    Expression date = col("v").cast(DataType.DATE);
    Expression timestamp = col("t").cast(DataType.timestamp(3));
    assertBothRefuse(call("BETWEEN", date, timestamp, timestamp));
    assertBothRefuse(call("IF", call("=", col("v"), "1"), date, timestamp));
    assertBothRefuse(
        new Expression.Case(List.of(call("=", col("v"), "1")), List.of(date, timestamp)));
  }

  private static void assertBothRefuse(Expression expression) throws Exception {
    ExpressionResolver resolver = new ExpressionResolver(SCHEMA, CONTEXT);
    assertThatThrownBy(() -> resolver.resolve(expression)).isInstanceOf(ExpressionException.class);
    assertThat(flink(rows(List.of("1")), List.of(expression.toString())).get(0).isRefused())
        .as(expression.toString())
        .isTrue();
  }
}
