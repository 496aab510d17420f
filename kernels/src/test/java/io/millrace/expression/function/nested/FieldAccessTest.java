// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.calc.Calc;
import io.millrace.calc.CalcProgramWriter;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.PtxAssembler;
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Fields of ROW columns at any depth, in filters and projections. */
class FieldAccessTest {
  private static final int MAX_ROWS = 2_500;

  /** Structs that may be null around structs that may not, and the reverse, with fields of all. */
  private static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT32, false),
          Field.of("outer", structOf(Field.of("inner", allTypes()))),
          new Field(
              "event",
              structOf(
                  new Field("inner", structOf(new Field("n", DataType.INT32, false)), false),
                  Field.of("maybe", structOf(new Field("n", DataType.INT32, false)))),
              false));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** The way to a field: the name of each step, and its position. */
  private record Path(Expression expression, List<Integer> positions, DataType type) {
    Object of(List<?> row) {
      Object value = row;
      for (int position : positions) {
        value = value == null ? null : ((List<?>) value).get(position);
      }
      return value;
    }
  }

  private static DataType structOf(Field... fields) {
    return DataType.struct(fields);
  }

  private static DataType allTypes() {
    return DataType.struct(
        DataTypes.schema(
                Stream.of(DataTypes.flat(), DataTypes.nested()).flatMap(List::stream).toList())
            .fields()
            .stream()
            .flatMap(
                field ->
                    Stream.of(field, new Field(field.name() + "_required", field.type(), false)))
            .toArray(Field[]::new));
  }

  private static List<Path> paths() {
    return paths(SCHEMA.fields(), null, List.of());
  }

  private static List<Path> paths(List<Field> fields, Expression row, List<Integer> before) {
    List<Path> paths = new ArrayList<>();
    for (int i = 0; i < fields.size(); i++) {
      Field field = fields.get(i);
      Expression expression = row == null ? col(field.name()) : row.field(field.name());
      List<Integer> positions = Stream.concat(before.stream(), Stream.of(i)).toList();
      paths.add(new Path(expression, positions, field.type()));
      if (field.type().id() == TypeId.STRUCT) {
        paths.addAll(paths(field.type().fields(), expression, positions));
      }
    }
    return paths;
  }

  private static List<Expression> projections(List<Path> paths) {
    return IntStream.range(0, paths.size())
        .mapToObj(i -> paths.get(i).expression().as("p" + i))
        .toList();
  }

  @RowCountTest
  void fieldsAreProjected(int rowCount) {
    List<Path> paths = paths();
    assertProjected(rowCount, Optional.empty(), paths, row -> true);
  }

  @RowCountTest
  void fieldsAreFilteredByAndProjected(int rowCount) {
    Path number = path("outer.inner.c3");
    Path required = path("event.inner.n");
    Expression condition =
        number.expression().gt(-3).or(required.expression().le(0)).and(col("outer").isNotNull());
    assertProjected(
        rowCount,
        Optional.of(condition),
        paths(),
        row ->
            row.get(1) != null
                && ((number.of(row) instanceof Integer n && n > -3)
                    || (Integer) required.of(row) <= 0));
  }

  @RowCountTest
  void rowsAndListsAreTestedForNull(int rowCount) {
    List<Path> paths = paths();
    int rows = Math.min(rowCount, MAX_ROWS);
    List<Expression> tests =
        IntStream.range(0, paths.size())
            .mapToObj(i -> paths.get(i).expression().isNull().as("p" + i))
            .toList();
    try (Table table = tables().generateSliced(SCHEMA, rows, device);
        Calc calc = Calc.of(SCHEMA, Optional.empty(), tests, ResolutionContext.DEFAULT);
        Table result = calc.apply(table, device.stream(), device.memory())) {
      assertThat(device.rows(result))
          .isEqualTo(
              device.rows(table).stream()
                  .map(row -> paths.stream().map(path -> (Object) (path.of(row) == null)).toList())
                  .toList());
      device.stream().synchronize();
    }
  }

  private void assertProjected(
      int rowCount, Optional<Expression> condition, List<Path> paths, Predicate<List<?>> kept) {
    int rows = Math.min(rowCount, MAX_ROWS);
    try (Table table = tables().generateSliced(SCHEMA, rows, device);
        Calc calc = Calc.of(SCHEMA, condition, projections(paths), ResolutionContext.DEFAULT);
        Table result = calc.apply(table, device.stream(), device.memory())) {
      List<List<Object>> expected =
          device.rows(table).stream()
              .filter(kept)
              .map(row -> paths.stream().map(path -> path.of(row)).toList())
              .toList();
      assertThat(device.rows(result)).isEqualTo(expected);
      device.stream().synchronize();
    }
  }

  private RandomTables tables() {
    return new RandomTables(random.random(), 0.2);
  }

  private static Path path(String names) {
    List<String> steps = List.of(names.split("\\."));
    Expression expression = col(steps.get(0));
    for (String step : steps.subList(1, steps.size())) {
      expression = expression.field(step);
    }
    Expression wanted = expression;
    return paths().stream()
        .filter(path -> path.expression().equals(wanted))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aStepOfTheHostReadsFields() {
    Expression upper =
        Expression.Call.of("UPPER", path("outer.inner.c18").expression()).as("upper");
    Path text = path("outer.inner.c18");
    try (Table table = tables().generateSliced(SCHEMA, MAX_ROWS, device);
        Calc calc = Calc.of(SCHEMA, Optional.empty(), List.of(upper), ResolutionContext.DEFAULT);
        Table result = calc.apply(table, device.stream(), device.memory())) {
      List<Object> expected = new ArrayList<>();
      for (List<Object> row : device.rows(table)) {
        Object value = text.of(row);
        expected.add(value == null ? null : value.toString().toUpperCase(Locale.ROOT));
      }
      assertThat(device.rows(result).stream().map(row -> row.get(0)).toList()).isEqualTo(expected);
      device.stream().synchronize();
    }
  }

  @Test
  void aFieldOfARowThatAnEarlierCalcSelectedIsReadFromTheInput() {
    Calc selecting =
        Calc.of(
            SCHEMA,
            Optional.empty(),
            List.of(col("outer").field("inner").as("row"), col("event")),
            ResolutionContext.DEFAULT);
    Calc reading =
        Calc.of(
            selecting.outputSchema(),
            Optional.of(col("event").field("inner").field("n").gt(0)),
            List.of(col("row").field("c3"), col("event").field("maybe").field("n")),
            ResolutionContext.DEFAULT);
    try (Calc fused = selecting.andThen(reading)) {
      assertThat(fused.projections()).hasToString("[outer.inner.c3, event.maybe.n]");
      assertThat(fused.condition().orElseThrow()).hasToString("(event.inner.n > 0)");
      assertThat(fused.outputSchema().names()).containsExactly("c3", "n");
    }
  }

  @Test
  void aFieldIsNullableIfAnyRowAroundItIs() {
    ExpressionResolver resolver = new ExpressionResolver(SCHEMA, ResolutionContext.DEFAULT);
    assertThat(resolver.resolve(path("event.inner.n").expression()).nullable()).isFalse();
    assertThat(resolver.resolve(path("event.maybe.n").expression()).nullable()).isTrue();
    assertThat(resolver.resolve(path("outer.inner.c3_required").expression()).nullable()).isTrue();
  }

  @Test
  void kernelsOfFieldsAssemble() {
    ExpressionResolver resolver = new ExpressionResolver(SCHEMA, ResolutionContext.DEFAULT);
    List<TypedExpression> scalars =
        paths().stream()
            .filter(path -> path.type().id().isScalar())
            .map(path -> resolver.resolve(path.expression()))
            .toList();
    TypedExpression condition = resolver.resolveCondition(col("event").field("maybe").isNotNull());
    for (boolean hasMasks : List.of(true, false)) {
      for (TypedExpression filter : new TypedExpression[] {condition, null}) {
        String ptx = CalcProgramWriter.write(filter, scalars, hasMasks, PtxLibrary.builtIn()).ptx();
        assertThat(PtxAssembler.errorsForOneArchitecture(ptx)).isEmpty();
      }
    }
  }

  @Test
  void mistakesAreTold() {
    ExpressionResolver resolver = new ExpressionResolver(SCHEMA, ResolutionContext.DEFAULT);
    assertThatThrownBy(() -> resolver.resolve(col("event").field("innner")))
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "there is no field 'innner' of event; did you mean 'inner'? The fields are inner,"
                + " maybe");
    assertThatThrownBy(() -> resolver.resolve(col("id").field("x")))
        .isInstanceOf(ExpressionException.class)
        .hasMessage("expected a ROW to read the field 'x' of, got id INT");
    assertThatThrownBy(
            () ->
                Calc.of(
                    SCHEMA,
                    Optional.empty(),
                    List.of(col("event").isEqual(col("event"))),
                    ResolutionContext.DEFAULT))
        .isInstanceOf(ExpressionException.class);
  }
}
