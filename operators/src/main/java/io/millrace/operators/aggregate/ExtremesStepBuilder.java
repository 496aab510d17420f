// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.aggregate.ExtremesArguments.Argument;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Makes an {@link ExtremesStep}. */
final class ExtremesStepBuilder {
  /** The row of a key in a table, a column of {@link ExtremesStep#found}. */
  static final Field ROW = new Field("$row", DataType.INT32, false);

  /** Values with an earlier time have expired: a column of {@link ExtremesStep#found}. */
  static final Field OLDEST = new Field("$oldest", DataType.INT64, false);

  private static final String COUNT = "$COUNT";
  private static final String IS_SET = "$is_set";
  // The names of columns with the extremes of before begin with this.
  private static final String BEFORE = "$before_";
  private static final Expression KIND = col(StateSchema.KIND);
  private static final Expression HAS_ROWS = col(AddedRows.ROWS).gt(0);

  private final ArgumentName name;
  private final Argument argument;
  private final StateSchema values;
  private final StateSchema aggregates;
  private final StateTtl stateTtl;
  private final ExpressionSettings settings;
  private final List<Aggregate.Function> functions;
  private final List<Field> keys;
  private final Field value;
  private final List<Calc> calcs = new ArrayList<>();

  /**
   * @param values the number of rows of each key and value
   * @param aggregates the state behind the step
   * @param stateTtl how long a value stays behind its last row
   */
  ExtremesStepBuilder(
      ArgumentName name,
      Argument argument,
      StateSchema values,
      StateSchema aggregates,
      StateTtl stateTtl,
      ExpressionSettings settings) {
    this.name = name;
    this.argument = argument;
    this.values = values;
    this.aggregates = aggregates;
    this.stateTtl = stateTtl;
    this.settings = settings;
    this.functions = List.copyOf(argument.extremes().keySet());
    this.keys = aggregates.keySchema().fields();
    this.value = values.keySchema().field(keys.size());
  }

  /** The caller closes the step. */
  ExtremesStep build() {
    try {
      return step();
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      calcs.forEach(calc -> failure.run(calc::close));
      throw e;
    }
  }

  private ExtremesStep step() {
    Schema rows = values.changes();
    StateSchema chosen = chosen();
    StateSchema extremes = extremes(chosen);
    Schema candidates = candidates(chosen, extremes);
    Expression isThere = isKind(ChangeKind.INSERT).or(isKind(ChangeKind.UPDATE_AFTER));
    Expression hasValue = col(value.name()).isNotNull();
    Expression came = isThere.and(HAS_ROWS).then(col(value.name()), nullOf(value.type()));
    Expression isPresent = HAS_ROWS.and(hasValue);
    Expression isWanted = isPresent.and(col(ROW.name()).ge(0));
    if (!stateTtl.isNone()) {
      isWanted = isWanted.and(col(stateTtl.updateTime().name()).ge(col(OLDEST.name())));
    }
    return new ExtremesStep(
        name,
        values,
        functions.stream().map(ExtremesStepBuilder::resultName).toList(),
        chosen,
        extremes,
        keysOnly(values.keySchema()),
        keysOnly(new Schema(keys)),
        calc(rows, isLookedAt(hasValue), valueColumns(function -> came)),
        calc(extremes.changes(), col(IS_SET), valueColumns(ExtremesStepBuilder::result)),
        candidates,
        calc(candidates, isGone().not().and(isChanged()), updates()),
        calc(candidates, isGone(), valueColumns(this::stayed)),
        calc(rows, isPresent, valueColumns(function -> col(value.name()))),
        calc(scanned(rows), isWanted, valueColumns(function -> col(value.name()))),
        calc(chosen.changes(), updates()),
        addedRows(extremes, isThere));
  }

  private static Expression isKind(ChangeKind kind) {
    return KIND.eq((int) kind.value());
  }

  private static String valueName(Aggregate.Function function) {
    return "$value_" + function;
  }

  private static String resultName(Aggregate.Function function) {
    return "$" + function;
  }

  private static Expression result(Aggregate.Function function) {
    return col(resultName(function));
  }

  private static String rowsName(Aggregate.Function function) {
    return "$rows_" + function;
  }

  private StateSchema chosen() {
    List<Field> fields = new ArrayList<>(keys);
    List<Accumulator> accumulators = new ArrayList<>();
    for (Aggregate.Function function : functions) {
      accumulators.add(
          new Accumulator(
              resultName(function),
              function == Aggregate.Function.MIN ? Function.MIN : Function.MAX,
              fields.size()));
      fields.add(Field.of(valueName(function), value.type()));
    }
    accumulators.add(new Accumulator(COUNT, Function.COUNT, keys.size()));
    return schema(new Schema(fields), keys.size(), accumulators);
  }

  // The last extremes that were found, since rows do not tell what went.
  private StateSchema extremes(StateSchema chosen) {
    List<Field> fields = new ArrayList<>(chosen.input().fields());
    List<Accumulator> accumulators = new ArrayList<>();
    if (!stateTtl.isNone()) {
      accumulators.add(stateTtl.updateTime());
    }
    for (int i = 0; i < functions.size(); i++) {
      accumulators.add(
          new Accumulator(resultName(functions.get(i)), Function.LAST, keys.size() + i));
    }
    accumulators.add(new Accumulator(IS_SET, Function.LAST, fields.size()));
    fields.add(new Field(IS_SET, DataType.BOOL, false));
    return schema(new Schema(fields), keys.size(), accumulators);
  }

  private static StateSchema keysOnly(Schema keys) {
    return schema(keys, keys.size(), List.of(Accumulator.countRows(COUNT)));
  }

  private static StateSchema schema(Schema columns, int keys, List<Accumulator> accumulators) {
    List<Integer> positions = IntStream.range(0, keys).boxed().toList();
    return new StateSchema(columns, positions, accumulators, StateSchema.NO_KINDS);
  }

  private Schema scanned(Schema rows) {
    return stateTtl.isNone() ? rows.with(ROW) : rows.with(OLDEST, ROW);
  }

  // Where values expire, each key of a batch is looked at: its extremes may have expired.
  private Optional<Expression> isLookedAt(Expression hasValue) {
    return stateTtl.isNone() ? Optional.of(KIND.ge(0).and(hasValue)) : Optional.empty();
  }

  private Schema candidates(StateSchema chosen, StateSchema extremes) {
    List<Field> fields = new ArrayList<>(chosen.changes().fields());
    functions.forEach(function -> fields.add(new Field(rowsName(function), DataType.INT64, false)));
    for (Field field : extremes.changes().fields()) {
      fields.add(new Field(BEFORE + field.name(), field.type(), field.nullable()));
    }
    return new Schema(fields);
  }

  // Whether a candidate, which is the extreme of before, has no row any more.
  private Expression isGone() {
    return hasValues()
        .and(
            functions.stream()
                .map(function -> col(rowsName(function)).le(0))
                .reduce(Expression::or)
                .orElseThrow());
  }

  private static Expression hasValues() {
    return col(COUNT).gt(0);
  }

  // SQL's comparisons do not tell the zeros apart: the state does. Where keys expire, the
  // aggregates
  // may have begun a key again, and lack the extremes that stay.
  private Expression isChanged() {
    if (value.type().isFloatingPoint() || !stateTtl.isNone()) {
      return lit(true);
    }
    Expression isSetBefore = col(BEFORE + IS_SET);
    Expression isOther =
        functions.stream()
            .map(function -> result(function).ne(col(BEFORE + resultName(function))))
            .reduce(Expression::or)
            .orElseThrow();
    return hasValues().then(isSetBefore.not().or(isOther), isSetBefore);
  }

  private Expression stayed(Aggregate.Function function) {
    return col(rowsName(function)).gt(0).then(result(function), nullOf(value.type()));
  }

  private List<Expression> updates() {
    List<Expression> columns =
        valueColumns(function -> hasValues().then(result(function), nullOf(value.type())));
    columns.add(hasValues().as(IS_SET));
    return columns;
  }

  private Calc addedRows(StateSchema extremes, Expression isChanged) {
    Map<Integer, Expression> columns = new HashMap<>();
    Expression none = nullOf(value.type());
    argument
        .extremes()
        .forEach(
            (function, column) -> columns.put(column, col(IS_SET).then(result(function), none)));
    columns.put(argument.isSet(), col(IS_SET));
    Expression inserted = lit((int) ChangeKind.INSERT.value()).cast(DataType.INT8);
    Calc calc =
        AddedRows.of(
            extremes.changes(), Optional.of(isChanged), aggregates, inserted, columns, settings);
    calcs.add(calc);
    return calc;
  }

  /** Gives the value of MIN or MAX. */
  private interface Values {
    Expression of(Aggregate.Function function);
  }

  private List<Expression> valueColumns(Values of) {
    List<Expression> columns = columns(keys);
    functions.forEach(function -> columns.add(of.of(function).as(valueName(function))));
    return columns;
  }

  private static List<Expression> columns(List<Field> fields) {
    List<Expression> columns = new ArrayList<>();
    fields.forEach(field -> columns.add(col(field.name())));
    return columns;
  }

  private Calc calc(Schema rows, List<Expression> columns) {
    return calc(rows, Optional.empty(), columns);
  }

  private Calc calc(Schema rows, Expression condition, List<Expression> columns) {
    return calc(rows, Optional.of(condition), columns);
  }

  private Calc calc(Schema rows, Optional<Expression> condition, List<Expression> columns) {
    Calc calc = Calc.of(rows, condition, columns, settings.context());
    calcs.add(calc);
    return calc;
  }
}
