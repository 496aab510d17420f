// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.CalcResults;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomJsonTexts;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Functions of JSON give what stock Flink SQL gives, for random texts. */
class JsonFunctionsParityTest {
  private static final ResolutionContext CONTEXT = ResolutionContext.DEFAULT;
  private static final int ROWS = 1000;
  private static final int CALLS_IN_ONE_QUERY = 16;
  private static final Schema SCHEMA =
      Schema.of(Field.of("j", DataType.STRING), new Field("k", DataType.STRING, false));
  private static final List<String> PATHS =
      List.of(
          "$",
          "lax $",
          "$.a",
          "lax $.a",
          "lax $.a.b",
          "$.b[0]",
          "lax $[-1].a",
          "$['a b']",
          "lax $.é[\"key\"]",
          "lax $.B[1]");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void scalarsAreThoseOfFlink() throws Exception {
    List<Expression> calls = new ArrayList<>();
    for (String path : PATHS) {
      calls.add(call("JSON_VALUE", col("j"), path));
      calls.add(
          call("JSON_VALUE", col("k"), path, "DEFAULT", "", "EMPTY", "DEFAULT", "error", "ERROR"));
      calls.add(call("JSON_VALUE", col("j"), path, "RETURNING", "BOOLEAN"));
      calls.add(call("JSON_VALUE", col("j"), path, "RETURNING", "INT", "DEFAULT", -5, "EMPTY"));
      calls.add(call("JSON_VALUE", col("j"), path, "RETURNING", "DOUBLE", "ERROR", "ERROR"));
    }
    compare(calls);
  }

  @Test
  void objectsAndArraysAreThoseOfFlink() throws Exception {
    List<Expression> calls = new ArrayList<>();
    List<String> behaviors = List.of("NULL", "ERROR", "EMPTY_ARRAY", "EMPTY_OBJECT");
    for (String path : PATHS) {
      calls.add(call("JSON_QUERY", col("j"), path));
      for (String wrapper :
          List.of("WITHOUT_ARRAY", "WITH_CONDITIONAL_ARRAY", "WITH_UNCONDITIONAL_ARRAY")) {
        String onEmpty = behaviors.get(calls.size() % behaviors.size());
        String onError = behaviors.get(calls.size() / 3 % behaviors.size());
        calls.add(call("JSON_QUERY", col("k"), path, wrapper, onEmpty, onError));
        calls.add(
            call("JSON_QUERY", col("k"), path, wrapper, "NULL", "EMPTY_ARRAY", "ARRAY<STRING>"));
      }
    }
    compare(calls);
  }

  @Test
  void textsThatAreMadeAreThoseOfFlink() throws Exception {
    Expression array =
        call("JSON_ARRAY", "ABSENT_ON_NULL", col("k"), 1, call("JSON_ARRAY", "NULL_ON_NULL"));
    compare(
        List.of(
            call("JSON_STRING", col("j")),
            call("JSON_STRING", array),
            call("JSON_UNQUOTE", col("j")),
            call("JSON_UNQUOTE", call("CONCAT", "\"", col("j"), "\"")),
            call("JSON_UNQUOTE", call("JSON_STRING", col("j"))),
            call(
                "JSON_OBJECT",
                "ABSENT_ON_NULL",
                "j",
                call("JSON", call("JSON_STRING", col("j"))),
                "a",
                call("JSON", call("CONCAT", " ", array, " "))),
            call("JSON_ARRAY", "NULL_ON_NULL", call("JSON", col("j")), call("JSON", " ")),
            call("JSON_ARRAY", "NULL_ON_NULL", col("j"), array, col("k"), col("j")),
            call("JSON_ARRAY", "ABSENT_ON_NULL", call("CHAR_LENGTH", col("j")), col("j")),
            call("JSON_OBJECT", "NULL_ON_NULL", "b", col("j"), "a", array, "\"", col("k")),
            call(
                "JSON_OBJECT", "ABSENT_ON_NULL", "😀", col("j"), "\uffee", col("j"), "a", col("k")),
            call(
                "JSON_OBJECT",
                "NULL_ON_NULL",
                "z",
                call("JSON_OBJECT", "ABSENT_ON_NULL", "a", col("j")),
                "y",
                call("JSON_QUERY", col("k"), "lax $.a")),
            call(
                "JSON_OBJECT",
                "NULL_ON_NULL",
                "k",
                col("k"),
                "n",
                call("JSON_ARRAY", "ABSENT_ON_NULL", 1))));
  }

  @Test
  void testsOfTextsAreThoseOfFlink() throws Exception {
    List<Expression> calls = new ArrayList<>();
    for (String kind : List.of("VALUE", "OBJECT", "ARRAY", "SCALAR")) {
      calls.add(call("IS JSON " + kind, col("j")));
      calls.add(call("IS NOT JSON " + kind, col("j")));
      calls.add(call("IS JSON " + kind, col("k")));
    }
    for (String path : PATHS) {
      calls.add(call("JSON_EXISTS", col("j"), path));
      for (String onError : List.of("TRUE", "FALSE", "UNKNOWN", "ERROR")) {
        calls.add(call("JSON_EXISTS", col("k"), path, onError));
      }
    }
    compare(calls);
  }

  private void compare(List<Expression> calls) throws Exception {
    RandomJsonTexts texts = new RandomJsonTexts(random.random());
    List<List<Object>> rows =
        Stream.generate(
                () ->
                    Stream.of(random.random().nextInt(16) == 0 ? null : texts.next(), texts.next())
                        .map(Object.class::cast)
                        .toList())
            .limit(ROWS)
            .toList();
    List<RowData> data =
        rows.stream()
            .<RowData>map(
                row ->
                    GenericRowData.of(
                        row.stream().map(text -> StringData.fromString((String) text)).toArray()))
            .toList();
    FlinkSql flink = new FlinkSql(SCHEMA, CONTEXT.zone());
    CalcResults calc = new CalcResults(CONTEXT, device, Integer.MAX_VALUE);
    try (Table table = TableBuilder.ofRows(SCHEMA, rows).build(device)) {
      ParityReport report =
          new ParityReport(
              SCHEMA,
              rows,
              new ExpressionResolver(SCHEMA, CONTEXT),
              parts -> calc.evaluate(table, parts));
      for (int i = 0; i < calls.size(); i += CALLS_IN_ONE_QUERY) {
        List<Expression> query = calls.subList(i, Math.min(calls.size(), i + CALLS_IN_ONE_QUERY));
        List<FlinkResult> flinks =
            flink.evaluate(data, query.stream().map(Expression::toString).toList());
        List<List<Object>> ours = calc.evaluate(table, query);
        for (int call = 0; call < query.size(); call++) {
          report.compare(query.get(call), ours.get(call), flinks.get(call));
        }
      }
      System.out.println(report);
      assertThat(report.differences()).isEmpty();
    }
  }
}
