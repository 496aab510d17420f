// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static org.apache.flink.util.TimeUtils.formatWithHighestUnit;

import io.millrace.calc.Calc;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.annotation.Internal;

/**
 * A function and the state of its keys: a state table with the last value of each state column, and
 * beside it whether there is one, since a null would leave the value before. Immutable; serialized
 * with the job.
 */
@Internal
public final class ProcessPlan implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String UPDATE_TIME = "$UPDATE_TIME";
  private static final String IS_SET_ARGUMENT = "$is_set_";

  private final Schema input;
  private final List<String> keys;
  private final KeyedBatchFunction function;
  private final Duration stateTtl;
  private final Schema outputSchema;
  private final Schema stateColumns;

  /**
   * The steps.
   *
   * @param keys of the input: the key columns
   * @param groups of tables that number the keys of a batch, updated with these columns
   * @param state of the values
   * @param values of {@link StateSchema#changes} of {@code state}: the key columns, and the state
   *     columns as the function reads them
   * @param updates of the key columns and the state columns as the function writes them: what
   *     {@code state} is updated with
   */
  record Steps(Calc keys, StateSchema groups, StateSchema state, Calc values, Calc updates)
      implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      failure.run(keys::close);
      failure.run(values::close);
      failure.run(updates::close);
      failure.rethrow();
    }
  }

  /**
   * @param input the columns of the batches
   * @param stateTtl how long the values of a key stay behind its last update; zero: for ever
   * @throws ExpressionException if a key column is an ARRAY or a ROW, a state column is one, is NOT
   *     NULL, or has the name of a key column or of another state column, the key or the state
   *     columns have too many words, or the result has a column with a reserved name
   */
  public ProcessPlan(
      Schema input, List<String> keys, KeyedBatchFunction function, Duration stateTtl) {
    this.input = input;
    this.keys = List.copyOf(keys);
    this.function = function;
    this.stateTtl = stateTtl;
    this.outputSchema = function.outputSchema(input);
    this.stateColumns = function.stateSchema(input);
    checked(
        () -> {
          EventTimeColumn.checkNameIsFree(outputSchema);
          return outputSchema;
        });
    stateColumns.fields().forEach(this::checkState);
    steps().close();
  }

  private void checkState(Field column) {
    if (!column.nullable()) {
      throw new ExpressionException(
          "expected a nullable state column, got '"
              + column.name()
              + "' "
              + column.type()
              + " NOT NULL: null says that a key has no value");
    }
    if (keys.contains(column.name())) {
      throw new ExpressionException(
          "expected a state column with a name of its own, got '"
              + column.name()
              + "', which is a key column");
    }
    if (!Function.LAST.supports(column.type())) {
      throw new ExpressionException(
          "expected a type other than ARRAY, ROW and DICTIONARY for state column '"
              + column.name()
              + "', got "
              + column.type());
    }
  }

  public Schema outputSchema() {
    return outputSchema;
  }

  /** The state columns. */
  Schema stateColumns() {
    return stateColumns;
  }

  List<String> keys() {
    return keys;
  }

  KeyedBatchFunction function() {
    return function;
  }

  Duration stateTtl() {
    return stateTtl;
  }

  /** The key columns, and behind them the state columns. */
  Schema keysAndState() {
    List<Field> fields = new ArrayList<>(input.select(keys).fields());
    fields.addAll(stateColumns.fields());
    return new Schema(fields);
  }

  /** Resolves the steps; the caller closes them. */
  Steps steps() {
    Schema keySchema = input.select(keys);
    List<Integer> keyColumns = IntStream.range(0, keys.size()).boxed().toList();
    StateSchema groups = schema(keySchema, keyColumns, List.of(Accumulator.countRows("$rows")));
    List<Expression> updates = columns(keysAndState().names());
    List<Expression> values = columns(keys);
    List<Accumulator> accumulators = new ArrayList<>();
    if (!stateTtl.isZero()) {
      accumulators.add(Accumulator.updateTime(UPDATE_TIME));
    }
    for (int i = 0; i < stateColumns.size(); i++) {
      Field field = stateColumns.field(i);
      String value = "$LAST(" + field.name() + ")";
      String isSet = "$IS_SET(" + field.name() + ")";
      int column = keys.size() + i;
      accumulators.add(new Accumulator(value, Function.LAST, column));
      accumulators.add(new Accumulator(isSet, Function.LAST, column + stateColumns.size()));
      updates.add(Expressions.col(field.name()).isNotNull().as(IS_SET_ARGUMENT + i));
      values.add(
          Expressions.col(isSet)
              .then(Expressions.col(value), Expressions.nullOf(field.type()))
              .as(field.name()));
    }
    Calc updateCalc = calc(keysAndState(), updates);
    StateSchema state = schema(updateCalc.outputSchema(), keyColumns, accumulators);
    return new Steps(
        calc(input, columns(keys)), groups, state, calc(state.changes(), values), updateCalc);
  }

  private static List<Expression> columns(List<String> names) {
    return names.stream().map(Expressions::col).collect(Collectors.toCollection(ArrayList::new));
  }

  private static Calc calc(Schema schema, List<Expression> columns) {
    return Calc.of(schema, Optional.empty(), columns, ExpressionSettings.DEFAULT.context());
  }

  private static StateSchema schema(
      Schema columns, List<Integer> keys, List<Accumulator> accumulators) {
    return checked(() -> new StateSchema(columns, keys, accumulators, StateSchema.NO_KINDS));
  }

  private static <T> T checked(Supplier<T> constructor) {
    try {
      return constructor.get();
    } catch (IllegalArgumentException e) {
      throw new ExpressionException(e.getMessage());
    }
  }

  /**
   * Such as {@code Process(function=[CountBids], key=[auction], state=[bids BIGINT])}; with {@code
   * stateTtl=[1 h]} behind it if values do not stay for ever.
   */
  @Override
  public String toString() {
    String state =
        stateColumns.fields().stream()
            .map(field -> field.name() + " " + field.type())
            .collect(Collectors.joining(", "));
    return "Process(function=["
        + name(function)
        + "], key=["
        + String.join(", ", keys)
        + "], state=["
        + state
        + (stateTtl.isZero() ? "])" : "], stateTtl=[" + formatWithHighestUnit(stateTtl) + "])");
  }

  private static String name(KeyedBatchFunction function) {
    String name = function.getClass().getSimpleName();
    return name.isEmpty() ? "anonymous" : name;
  }
}
