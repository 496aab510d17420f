// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.Evaluation;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Functions over arrays, maps and rows, with the results of Flink 2.3. */
class NestedFunctionsTest {
  private static final DataType INTS = DataType.list(DataType.INT32);
  private static final DataType STRINGS = DataType.list(DataType.STRING);
  private static final DataType MAP =
      DataType.map(Field.of("key", DataType.STRING), Field.of("value", DataType.INT32));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private Table table() {
    return new TableBuilder()
        .column("a", INTS, asList(3, 1, null, 3), null, List.of())
        .column("b", INTS, asList(1, 4, 4, null), List.of(7), asList((Object) null))
        .column("n", DataType.INT32, 3, 1, null)
        .column("s", STRINGS, asList("b", null, "é"), List.of(), asList("x", "x"))
        .column("t", DataType.STRING, "k=1,l,k=2", "", "a,,b=")
        .column(
            "m",
            MAP,
            List.of(asList("x", 1), asList("y", null)),
            null,
            List.of(asList(null, 5), asList("x", 6)))
        .build(device);
  }

  private void assertValues(Expression expression, Object... values) {
    try (Table table = table()) {
      assertThat(Evaluation.of(device, table, expression)).isEqualTo(asList(values));
    }
  }

  private static Expression a() {
    return col("a");
  }

  private static Expression b() {
    return col("b");
  }

  @Test
  void elementsAndLengths() {
    assertValues(call("CARDINALITY", a()), 4, null, 0);
    assertValues(call("CARDINALITY", col("m")), 2, null, 2);
    assertValues(call("ITEM", a(), 1), 3, null, null);
    assertValues(call("ITEM", a(), 3), null, null, null);
    assertValues(call("ITEM", b(), col("n")), 4, 7, null);
    assertValues(call("ITEM", b(), col("n").minus(3)), null, null, null);
    assertValues(call("ITEM", col("m"), "x"), 1, null, 6);
    assertValues(call("ITEM", col("m"), nullOf(DataType.STRING)), null, null, null);
    assertValues(call("ELEMENT", call("ARRAY_SLICE", b(), 1, 1)), 1, 7, null);
    Expression first = call("ARRAY_SLICE", col("s"), 1, 1);
    assertValues(call("ELEMENT", call("ARRAY_REMOVE", first, "x")), "b", null, null);
  }

  @Test
  void aRowGetsOtherNames() {
    DataType named =
        DataType.struct(
            Field.of("x", DataType.INT32), Field.of("y", DataType.struct(Field.of("z", INTS))));
    Expression row = call("ROW", col("n"), call("ROW", a()));
    Expression cast = new Expression.Cast(row, named, false);
    assertValues(cast.field("x"), 3, 1, null);
    assertValues(cast.field("y").field("z"), asList(3, 1, null, 3), null, List.of());
    Expression notNull =
        new Expression.Cast(
            call("ROW", col("n")), DataType.struct(new Field("x", DataType.INT32, false)), false);
    assertThatThrownBy(() -> assertValues(notNull)).isInstanceOf(ExpressionException.class);
  }

  @Test
  void searches() {
    assertValues(call("ARRAY_CONTAINS", a(), 1), true, null, false);
    assertValues(call("ARRAY_CONTAINS", a(), nullOf(DataType.INT32)), true, null, false);
    assertValues(call("ARRAY_CONTAINS", b(), col("n")), false, false, true);
    assertValues(call("ARRAY_POSITION", b(), 4), 2, 0, 0);
    assertValues(call("ARRAY_POSITION", b(), col("n")), 0, 0, null);
    assertValues(call("ARRAY_MAX", b()), 4, 7, null);
    assertValues(call("ARRAY_MIN", a()), 1, null, null);
    assertValues(call("ARRAY_MAX", col("s")), "é", null, "x");
  }

  @Test
  void editedArrays() {
    assertValues(call("ARRAY_APPEND", a(), 9), asList(3, 1, null, 3, 9), null, List.of(9));
    assertValues(
        call("ARRAY_PREPEND", a(), col("n")),
        asList(3, 3, 1, null, 3),
        null,
        asList((Object) null));
    assertValues(
        call("ARRAY_CONCAT", b(), b()),
        asList(1, 4, 4, null, 1, 4, 4, null),
        List.of(7, 7),
        asList(null, null));
    assertValues(call("ARRAY_REVERSE", a()), asList(3, null, 1, 3), null, List.of());
    assertValues(call("ARRAY_REMOVE", a(), 3), asList(1, null), null, List.of());
    assertValues(
        call("ARRAY_REMOVE", a(), nullOf(DataType.INT32)), asList(3, 1, 3), null, List.of());
    assertValues(call("ARRAY_SLICE", b(), 2), asList(4, 4, null), List.of(), List.of());
    assertValues(call("ARRAY_SLICE", b(), -3, -2), asList(4, 4), List.of(7), asList((Object) null));
    assertValues(call("ARRAY_SLICE", b(), 0, 0), asList(1), List.of(7), asList((Object) null));
  }

  @Test
  void setsAndOrders() {
    assertValues(call("ARRAY_DISTINCT", a()), asList(3, 1, null), null, List.of());
    assertValues(call("ARRAY_UNION", a(), b()), asList(3, 1, null, 4), null, asList((Object) null));
    assertValues(call("ARRAY_EXCEPT", a(), b()), asList(3), null, List.of());
    assertValues(call("ARRAY_INTERSECT", a(), b()), asList(1, null), null, List.of());
    assertValues(call("ARRAY_SORT", a()), asList(null, 1, 3, 3), null, List.of());
    assertValues(call("ARRAY_SORT", a(), false), asList(3, 3, 1, null), null, List.of());
    assertValues(call("ARRAY_SORT", a(), false, true), asList(null, 3, 3, 1), null, List.of());
    assertValues(
        call("ARRAY_SORT", col("s"), true, false),
        asList("b", "é", null),
        List.of(),
        asList("x", "x"));
  }

  @Test
  void stringsAndArrays() {
    assertValues(
        call("SPLIT", col("t"), ","), asList("k=1", "l", "k=2"), List.of(), asList("a", "", "b="));
    assertValues(
        call("SPLIT", lit("aé"), col("t").substring(1, 0)),
        asList("a", "é"),
        asList("a", "é"),
        asList("a", "é"));
    assertValues(
        call("REGEXP_EXTRACT_ALL", col("t"), "(\\w)=(\\d?)"),
        asList("k", "k"),
        List.of(),
        asList("b"));
    assertValues(
        call("REGEXP_EXTRACT_ALL", col("t"), "(\\w)=(\\d)?", 2),
        asList("1", "2"),
        List.of(),
        asList((Object) null));
    assertValues(call("REGEXP_EXTRACT_ALL", col("t"), "(\\w)", 2), null, null, null);
    assertValues(call("REGEXP_EXTRACT_ALL", col("t"), "(", 0), null, null, null);
    assertValues(call("ARRAY_JOIN", col("s"), "--"), "b--é", "", "x--x");
    assertValues(call("ARRAY_JOIN", col("s"), ",", "?"), "b,?,é", "", "x,x");
    assertValues(call("ARRAY_JOIN", call("SPLIT", col("t"), ","), ";"), "k=1;l;k=2", "", "a;;b=");
  }

  @Test
  void maps() {
    assertValues(call("MAP_KEYS", col("m")), asList("x", "y"), null, asList(null, "x"));
    assertValues(call("MAP_VALUES", col("m")), asList(1, null), null, asList(5, 6));
    assertValues(
        call("MAP_ENTRIES", col("m")),
        List.of(asList("x", 1), asList("y", null)),
        null,
        List.of(asList(null, 5), asList("x", 6)));
    assertValues(
        call("MAP", "p", col("n"), "q", 2),
        List.of(asList("p", 3), asList("q", 2)),
        List.of(asList("p", 1), asList("q", 2)),
        List.of(asList("p", null), asList("q", 2)));
    assertValues(
        call("MAP_FROM_ARRAYS", call("ARRAY_APPEND", a(), 1), call("ARRAY_PREPEND", a(), 2)),
        List.of(asList(3, 2), asList(1, 3), asList(null, 1), asList(3, null), asList(1, 3)),
        null,
        List.of(asList(1, 2)));
    assertValues(
        call("MAP_UNION", col("m"), call("MAP", "x", 7)),
        List.of(asList("x", 7), asList("y", null)),
        null,
        List.of(asList("x", 7), asList(null, 5)));
    assertValues(call("ITEM", call("STR_TO_MAP", col("t")), "k"), "2", null, null);
    assertValues(call("CARDINALITY", call("STR_TO_MAP", col("t"))), 2, 0, 3);
  }

  @Test
  void rowsAndArraysAreConstructed() {
    assertValues(call("ARRAY", col("n"), 5), asList(3, 5), asList(1, 5), asList(null, 5));
    assertValues(
        call("ROW", col("n"), col("t").upperCase(), a()),
        asList(3, "K=1,L,K=2", asList(3, 1, null, 3)),
        asList(1, "", null),
        asList(null, "A,,B=", List.of()));
    assertValues(
        call("ITEM", call("ARRAY", call("ROW", col("n"), "x"), call("ROW", 8, "y")), 1)
            .field("EXPR$0"),
        3,
        1,
        null);
    assertValues(
        col("n").gt(1).then(call("ROW", 1, "x"), nullOf(rowType())).field("EXPR$1"),
        "x",
        null,
        null);
    assertValues(
        col("n").gt(1).then(a(), b()), asList(3, 1, null, 3), List.of(7), asList((Object) null));
    assertValues(a().coalesce(b()), asList(3, 1, null, 3), List.of(7), List.of());
  }

  private static DataType rowType() {
    return DataType.struct(
        new Field("EXPR$0", DataType.INT32, false), new Field("EXPR$1", DataType.STRING, false));
  }

  @Test
  void aFilterKeepsRowsOfNestedValues() {
    Expression reversed = call("ARRAY_REVERSE", a());
    try (Table table = table();
        Calc calc =
            Calc.of(
                table.schema(),
                Optional.of(call("CARDINALITY", reversed).isNotNull()),
                List.of(
                    reversed.as("r"),
                    call("ROW", reversed, col("n")).as("row"),
                    col("m"),
                    call("CARDINALITY", col("m")).as("c")),
                ResolutionContext.DEFAULT);
        Table result = calc.apply(table, device.stream(), device.memory())) {
      List<Object> first = asList(3, null, 1, 3);
      assertThat(device.rows(result))
          .isEqualTo(
              List.of(
                  asList(first, asList(first, 3), List.of(asList("x", 1), asList("y", null)), 2),
                  asList(
                      List.of(),
                      asList(List.of(), null),
                      List.of(asList(null, 5), asList("x", 6)),
                      2)));
    }
  }

  /** Copies of values of all types, from columns to vectors, between vectors, and to columns. */
  @RowCountTest
  void valuesOfAllTypesAreCopied(int rowCount) {
    List<DataType> types = new ArrayList<>(DataTypes.flat());
    types.addAll(DataTypes.nested());
    types.add(MAP);
    int rows = Math.min(rowCount, 1_100);
    for (DataType type : types) {
      Schema schema = Schema.of(Field.of("x", type), Field.of("l", DataType.list(type)));
      try (Table table =
              new RandomTables(random.random(), 0.2).generateSliced(schema, rows, device);
          Calc calc =
              Calc.of(
                  schema,
                  Optional.empty(),
                  List.of(
                      call("ITEM", call("ARRAY", col("x"), col("x")), 2).as("x"),
                      call("ARRAY_REVERSE", call("ARRAY_REVERSE", col("l"))).as("l")),
                  ResolutionContext.DEFAULT);
          Table result = calc.apply(table, device.stream(), device.memory())) {
        assertThat(device.rows(result)).as(type.toString()).isEqualTo(device.rows(table));
      }
    }
  }

  @Test
  void rowsFail() {
    try (Table table = table()) {
      assertThatThrownBy(() -> Evaluation.of(device, table, call("ELEMENT", a())))
          .isInstanceOf(EvaluationException.class)
          .hasMessageContaining("[3, 1, NULL, 3]");
      assertThatThrownBy(() -> Evaluation.of(device, table, call("MAP_FROM_ARRAYS", a(), b())))
          .isInstanceOf(EvaluationException.class);
    }
  }

  @Test
  void mistakesAreTold() {
    try (Table table = table()) {
      assertThatThrownBy(() -> Evaluation.of(device, table, call("ITEM", a(), 0)))
          .isInstanceOf(ExpressionException.class)
          .hasMessageContaining("expected a position from 1 on, got 0");
      assertThatThrownBy(() -> Evaluation.of(device, table, call("ARRAY_CONTAINS", a(), "x")))
          .isInstanceOf(ExpressionException.class);
      assertThatThrownBy(() -> Evaluation.of(device, table, call("ARRAY_UNION", a(), col("s"))))
          .isInstanceOf(ExpressionException.class)
          .hasMessageContaining("expected arrays of INT, got one of STRING");
      assertThatThrownBy(() -> Evaluation.of(device, table, a().isEqual(b())))
          .isInstanceOf(ExpressionException.class);
      assertThatThrownBy(() -> Evaluation.of(device, table, call("UPPER", col("s"))))
          .isInstanceOf(ExpressionException.class);
    }
  }
}
