// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.PtxAssembler;
import io.millrace.expression.Expression;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.resolve.ConstantLookup;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.testing.CalcResults;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.ExpressionValues;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.io.Serializable;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lookups of values in many constants: IN, NOT IN, OR of equalities, and CASE. */
class ConstantLookupTest {
  private static final int MANY = 100_000;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final CalcResults results =
      new CalcResults(ResolutionContext.DEFAULT, device, Integer.MAX_VALUE);

  static Stream<DataType> types() {
    return DataTypes.flat().stream().filter(type -> type.id() != TypeId.BINARY);
  }

  /** Each constant is a column of one row, and is looked up in lists that contain half of them. */
  @ParameterizedTest
  @MethodSource("types")
  void aValueIsInAListIfItEqualsOneOfIt(DataType type) {
    ExpressionValues values = new ExpressionValues(random.random());
    for (int count : new int[] {1, 7, 8, 30, 1000}) {
      List<Serializable> constants =
          Stream.generate(() -> values.literal(type)).limit(2L * count).toList();
      List<Serializable> list = constants.subList(0, count);
      Set<Object> known = new HashSet<>(list);
      List<Serializable> sought =
          IntStream.range(0, 20).mapToObj(i -> constants.get(i % constants.size())).toList();

      List<Expression> columns = new ArrayList<>();
      List<Expression> expressions = new ArrayList<>();
      List<Object> expected = new ArrayList<>();
      for (int i = 0; i < sought.size(); i++) {
        columns.add(new Expression.Literal(sought.get(i), type).as("c" + i));
        boolean isIn = known.contains(sought.get(i));
        expressions.add(call("IN", arguments(col("c" + i), list, type)));
        expressions.add(call("NOT IN", arguments(col("c" + i), list, type)));
        expressions.add(any("OR", "=", col("c" + i), list, type));
        expressions.add(any("AND", "<>", col("c" + i), list, type));
        expected.addAll(List.of(isIn, !isIn, isIn, !isIn));
      }
      assertThat(evaluateOneRow(columns, expressions)).as("%d", count).isEqualTo(expected);
    }
  }

  private static Object[] arguments(Expression value, List<Serializable> list, DataType type) {
    return Stream.concat(
            Stream.of(value), list.stream().map(constant -> new Expression.Literal(constant, type)))
        .toArray();
  }

  private static Expression any(
      String junction,
      String comparison,
      Expression value,
      List<Serializable> list,
      DataType type) {
    Object[] terms =
        list.stream()
            .map(constant -> call(comparison, value, new Expression.Literal(constant, type)))
            .toArray();
    return terms.length == 1 ? (Expression) terms[0] : call(junction, terms);
  }

  private List<Object> evaluateOneRow(List<Expression> columns, List<Expression> expressions) {
    try (Table one = new TableBuilder().column("row", DataType.INT32, 1).build(device);
        Calc literals =
            Calc.of(one.schema(), Optional.empty(), columns, ResolutionContext.DEFAULT);
        Table table = literals.apply(one, device.stream(), device.memory())) {
      return results.evaluate(table, expressions).stream().map(column -> column.get(0)).toList();
    }
  }

  @Test
  void nullsAreUnknown() {
    Object[] longs = IntStream.range(0, 10).mapToObj(i -> lit((long) i)).toArray();
    Object[] withNull = Arrays.copyOf(longs, 11);
    withNull[10] = nullOf(DataType.INT64);
    try (Table table =
        new TableBuilder().column("a", DataType.INT64, 3L, 77L, null).build(device)) {
      assertThat(
              results.evaluate(
                  table,
                  List.of(
                      col("a").in(longs),
                      call("NOT IN", prepend(col("a"), longs)),
                      col("a").in(withNull),
                      call("NOT IN", prepend(col("a"), withNull)),
                      col("a").in(prepend(col("a"), longs)))))
          .containsExactly(
              Arrays.asList(true, false, null),
              Arrays.asList(false, true, null),
              Arrays.asList(true, null, null),
              Arrays.asList(false, null, null),
              Arrays.asList(true, true, null));
    }
  }

  @Test
  void constantsOfOtherTypesAreCastOnce() {
    Object[] list =
        IntStream.range(0, 1500).mapToObj(i -> i % 3 == 0 ? (Object) i : i + 0L).toArray();
    Object[] decimals =
        IntStream.range(0, 20).mapToObj(i -> BigDecimal.valueOf(i * 5L, i % 3)).toArray();
    try (Table table =
        new TableBuilder()
            .column("l", DataType.INT64, 7L, 1499L, 1500L)
            .column(
                "m",
                DataType.decimal(10, 2),
                new BigDecimal("0.50"),
                new BigDecimal("9.50"),
                new BigDecimal("0.51"))
            .column("d", DataType.FLOAT64, 3.0, 0.5, 2000.0)
            .build(device)) {
      assertThat(
              results.evaluate(
                  table, List.of(col("l").in(list), col("m").in(decimals), col("d").in(list))))
          .containsExactly(
              List.of(true, true, false), List.of(true, true, false), List.of(true, false, false));
    }
  }

  /** As in Flink; see ConstantListsParityTest. */
  @ParameterizedTest
  @ValueSource(ints = {0, 20})
  void minusZeroIsNotInListsOfSeveralNumbers(int others) {
    Object[] list = IntStream.range(0, others + 2).mapToObj(i -> (double) i).toArray();
    Object[] zeros = Collections.nCopies(others + 1, 0.0).toArray();
    Object[] withNaN = {Double.NaN, 0.0};
    try (Table table =
        new TableBuilder()
            .column("d", DataType.FLOAT64, 0.0, -0.0, 1.0, Double.NaN)
            .build(device)) {
      assertThat(
              results.evaluate(
                  table,
                  List.of(
                      col("d").in(list),
                      call("NOT IN", prepend(col("d"), list)),
                      col("d").in(zeros),
                      col("d").in(withNaN),
                      col("d").in(-0.0, 1.0),
                      col("d").cast(DataType.FLOAT32).in(list))))
          .containsExactly(
              List.of(true, false, true, false),
              List.of(false, true, false, true),
              List.of(true, true, false, false),
              List.of(true, true, false, false),
              List.of(true, false, true, false),
              List.of(true, false, true, false));
    }
  }

  @Test
  void aCaseTakesTheResultOfItsConstant() {
    List<Expression> conditions = new ArrayList<>();
    List<Expression> names = new ArrayList<>();
    List<Expression> numbers = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      conditions.add(col("a").isEqual((long) (i % 20)));
      names.add(i == 5 ? nullOf(DataType.STRING) : lit("name " + i));
      numbers.add(i % 3 == 0 ? col("a").times(2L) : i == 4 ? col("b") : lit((long) i));
    }
    conditions.add(12, col("b").isEqual(-1L));
    names.add(12, lit("minus"));
    numbers.add(12, lit(-1L));
    names.add(lit("none"));
    numbers.add(nullOf(DataType.INT64));
    try (Table table =
        new TableBuilder()
            .column("a", DataType.INT64, 3L, 5L, 4L, 19L, 77L, null, 15L)
            .column("b", DataType.INT64, 1L, 2L, 3L, 4L, 5L, 6L, -1L)
            .build(device)) {
      assertThat(
              results.evaluate(
                  table,
                  List.of(
                      new Expression.Case(conditions, names),
                      new Expression.Case(conditions, numbers))))
          .containsExactly(
              Arrays.asList("name 3", null, "name 4", "name 19", "none", "none", "minus"),
              Arrays.asList(6L, 5L, 3L, 19L, null, null, -1L));
    }
  }

  @ParameterizedTest
  @MethodSource("types")
  void constantResultsOfEachTypeAreTaken(DataType type) {
    ExpressionValues values = new ExpressionValues(random.random());
    List<Expression> conditions = new ArrayList<>();
    List<Expression> taken = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      conditions.add(call("=", col("s"), "key " + i));
      taken.add(new Expression.Literal(values.literal(type), type));
    }
    taken.add(nullOf(type));
    List<Expression> expressions = new ArrayList<>(List.of(new Expression.Case(conditions, taken)));
    expressions.addAll(taken);
    try (Table table =
        new TableBuilder()
            .column("s", DataType.STRING, "key 7", "key 19", "key", null)
            .build(device)) {
      List<List<Object>> rows = results.evaluate(table, expressions);
      assertThat(rows.get(0))
          .isEqualTo(Arrays.asList(rows.get(8).get(0), rows.get(20).get(0), null, null));
    }
  }

  @Test
  void aCaseOfNumbersFindsZerosOfEitherSignAndNoNaN() {
    List<Expression> conditions = new ArrayList<>();
    List<Expression> taken = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      conditions.add(col("d").isEqual(i == 9 ? Double.NaN : i - 2.0));
      taken.add(lit(i));
    }
    taken.add(lit(-1));
    try (Table table =
        new TableBuilder()
            .column("d", DataType.FLOAT64, 0.0, -0.0, Double.NaN, 6.0)
            .build(device)) {
      assertThat(results.evaluate(table, List.of(new Expression.Case(conditions, taken))))
          .containsExactly(List.of(2, 2, -1, 8));
    }
  }

  // ---- compilation ----

  static Stream<Expression> listsOf(int count) {
    return Stream.of(
        col("l").in(constants(count, i -> (long) i * 3)),
        col("l").in(constants(count, i -> i)),
        col("s").in(constants(count, i -> "name " + i)),
        col("m").in(constants(count, i -> BigDecimal.valueOf(i, 6))),
        col("d").in(constants(count, i -> i * 0.5)),
        simpleCase(count, i -> lit("result " + i)),
        call("OR", constants(count, i -> col("l").isEqual((long) i))));
  }

  private static Object[] constants(int count, IntFunction<Object> constant) {
    return IntStream.range(0, count).mapToObj(constant).toArray();
  }

  private static Expression simpleCase(int count, IntFunction<Expression> result) {
    Expression value = col("l");
    return new Expression.Case(
        IntStream.range(0, count).mapToObj(i -> value.isEqual((long) i)).toList(),
        Stream.concat(
                IntStream.range(0, count).mapToObj(result), Stream.of(nullOf(DataType.STRING)))
            .toList());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 8, 1000, MANY})
  @Timeout(300)
  void theKernelIsAsLongForAnyNumberOfConstants(int count) {
    List<TypedExpression> typed =
        listsOf(Math.max(2, count)).map(ConstantLookupTest::resolve).toList();
    List<TypedExpression> ofNine = listsOf(9).map(ConstantLookupTest::resolve).toList();
    for (int i = 0; i < typed.size(); i++) {
      String ptx = ptx(typed.get(i));
      assertThat(PtxAssembler.errorsForOneArchitecture(ptx)).as("list %d", i).isEmpty();
      if (count >= ConstantLookup.MIN_CONSTANTS) {
        assertThat(ptx).as("list %d", i).isEqualTo(ptx(ofNine.get(i)));
      }
    }
  }

  private static String ptx(TypedExpression typed) {
    return CalcProgramWriter.write(null, List.of(typed), true, PtxLibrary.builtIn()).ptx();
  }

  private static final Schema SCHEMA =
      Schema.of(
          Field.of("l", DataType.INT64),
          Field.of("s", DataType.STRING),
          Field.of("m", DataType.decimal(30, 6)),
          Field.of("d", DataType.FLOAT64));

  private static TypedExpression resolve(Expression expression) {
    return new ExpressionResolver(SCHEMA, ResolutionContext.DEFAULT).resolve(expression);
  }

  @Test
  void otherConstantsHaveTheSameKernelButAreOtherExpressions() {
    TypedExpression first = resolve(col("l").in(constants(9, i -> (long) i)));
    TypedExpression second = resolve(col("l").in(constants(900, i -> i + 1L)));

    assertThat(first).isNotEqualTo(second);
    assertThat(identity(first)).isEqualTo(identity(second));
    assertThat(identity(first, second)).isNotEqualTo(identity(first, first));
    assertThat(identity(first)).isNotEqualTo(identity(resolve(call("NOT", col("l").in(1L, 2L)))));
  }

  private static KernelIdentity identity(TypedExpression... roots) {
    return KernelIdentity.of(false, List.of(roots), List.of());
  }

  private static Object[] prepend(Expression first, Object... rest) {
    return Stream.concat(Stream.of(first), Arrays.stream(rest)).toArray();
  }
}
