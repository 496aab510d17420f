// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static org.apache.flink.util.TimeUtils.formatWithHighestUnit;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /** The time of a timer, in milliseconds since the epoch: a last key column of the state. */
  static final String TIMER = KeyedBatchFunction.TIMER;

  static final Field TIMER_FIELD = Field.of(TIMER, DataType.INT64);

  /** Whether a timer is set. */
  static final String IS_TIMER = "$is_timer";

  private final Schema input;
  private final List<String> keys;
  private final KeyedBatchFunction function;
  private final StateTtl stateTtl;
  private final Schema outputSchema;
  private final Schema stateColumns;
  private final EntryScan.Limits entryLimits;

  /**
   * The steps. The key columns have {@link #TIMER} behind them if the function has timers, which is
   * null for values.
   *
   * @param keys of the input: the key columns
   * @param groups of tables that number the keys of a batch, updated with these columns
   * @param state of the values and timers
   * @param values of {@link StateSchema#changes} of {@code state}: the keys, and the state columns
   *     as the function reads them
   * @param updates of the keys and the state columns as the function writes them: what {@code
   *     state} is updated with
   * @param timers null if the function has none
   * @param maps of {@link EntrySchemas#states}, by name
   */
  record Steps(
      Calc keys,
      StateSchema groups,
      StateSchema state,
      Calc values,
      Calc updates,
      Timers timers,
      Map<String, MapSteps> maps)
      implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      failure.run(keys::close);
      failure.run(values::close);
      failure.run(updates::close);
      if (timers != null) {
        failure.run(timers::close);
      }
      maps.values().forEach(map -> failure.run(map::close));
      failure.rethrow();
    }
  }

  /**
   * The steps of timers: rows of the state with a time.
   *
   * @param set of {@link StateSchema#changes}: the keys and times of timers that are set
   * @param keys of these columns: the key columns, as those of {@code Steps.keys}
   * @param updates of these columns, and {@link #IS_TIMER}: what the state is updated with
   * @param removals of the keys and times: likewise, so that the timers are not set any more
   */
  record Timers(Calc set, Calc keys, Calc updates, Calc removals) implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      List.of(set, keys, updates, removals).forEach(calc -> failure.run(calc::close));
      failure.rethrow();
    }
  }

  /**
   * @param input the columns of the batches
   * @param stateTtl how long the values of a key stay behind its last update
   * @throws ExpressionException if a key column is an ARRAY or a ROW, a state column is one, is NOT
   *     NULL, or has the name of a key column or of another state column, the key or the state
   *     columns have too many words, the result has a column with a reserved name, there are timers
   *     with slices of a negative time or not of a multiple of 4 ms, or the same holds for a map or
   *     a list, two of which have the same name
   */
  public ProcessPlan(
      Schema input, List<String> keys, KeyedBatchFunction function, StateTtl stateTtl) {
    this(input, keys, function, stateTtl, EntryScan.Limits.DEFAULT);
  }

  ProcessPlan(
      Schema input,
      List<String> keys,
      KeyedBatchFunction function,
      StateTtl stateTtl,
      EntryScan.Limits entryLimits) {
    this.entryLimits = entryLimits;
    this.input = input;
    this.keys = List.copyOf(keys);
    this.function = function;
    // Elements of lists expire in their order, so the clock must not go back.
    this.stateTtl = function.listStates(input).isEmpty() ? stateTtl : stateTtl.ofBatches();
    this.outputSchema = function.outputSchema(input);
    this.stateColumns = function.stateSchema(input);
    checked(
        () -> {
          EventTimeColumn.checkNameIsFree(outputSchema);
          return outputSchema;
        });
    checkStateColumns();
    TimerSlices.check(function.timerSlices());
    entries().check();
    steps().close();
  }

  private void checkStateColumns() {
    for (String name : stateColumns.names()) {
      if (keys.contains(name)) {
        throw new ExpressionException(
            "expected a state column with a name of its own, got '"
                + name
                + "', which is a key column");
      }
    }
    new LastValues(stateColumns).check("state column");
  }

  /** Whether the function has timers. */
  boolean hasTimers() {
    return !function.timerSlices().isZero();
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

  EntrySchemas entries() {
    return EntrySchemas.of(function, input);
  }

  EntryScan.Limits entryLimits() {
    return entryLimits;
  }

  Schema input() {
    return input;
  }

  /** How wide slices of timers are, in milliseconds; zero if there are no timers. */
  long timerSlices() {
    return function.timerSlices().toMillis();
  }

  KeyedBatchFunction function() {
    return function;
  }

  StateTtl stateTtl() {
    return stateTtl;
  }

  /** The key columns, and behind them the state columns. */
  Schema keysAndState() {
    List<Field> fields = new ArrayList<>(input.select(keys).fields());
    fields.addAll(stateColumns.fields());
    return new Schema(fields);
  }

  /** The key columns and the time of timers. */
  Schema timers() {
    List<Field> fields = new ArrayList<>(input.select(keys).fields());
    fields.add(TIMER_FIELD);
    return new Schema(fields);
  }

  /** The key columns and the time of timers, and whether they are set. */
  Schema timerChanges() {
    List<Field> fields = new ArrayList<>(timers().fields());
    fields.add(new Field(IS_TIMER, DataType.BOOL, false));
    return new Schema(fields);
  }

  /** Why the function works on the host; empty if it does not. */
  public List<String> hostReasons() {
    return function instanceof HostKeyedFunction
        ? List.of(name(function) + " is called in Java")
        : List.of();
  }

  /** The state of values and timers. */
  public StateSchema stateSchema() {
    try (Steps steps = steps()) {
      return steps.state();
    }
  }

  /** Resolves the steps; the caller closes them. */
  Steps steps() {
    return new Builder().build();
  }

  /** Collects the columns of the steps. */
  private final class Builder {
    private final List<Runnable> resolved = new ArrayList<>();
    private final List<Expression> values = columns(keys);
    private final List<Expression> updates = columns(keys);
    private final List<Expression> timerUpdates = columns(keys);
    private final List<Accumulator> accumulators = new ArrayList<>();

    Steps build() {
      try {
        return steps();
      } catch (RuntimeException | Error e) {
        FirstFailure failure = new FirstFailure();
        failure.add(e);
        resolved.forEach(failure::run);
        throw e;
      }
    }

    private Steps steps() {
      Calc keyCalc = calc(input, keyColumns());
      int keyCount = keyCalc.outputSchema().size();
      List<Integer> keyPositions = IntStream.range(0, keyCount).boxed().toList();
      StateSchema groups =
          schema(keyCalc.outputSchema(), keyPositions, List.of(Accumulator.countRows("$rows")));
      if (hasTimers()) {
        updates.add(noTimer());
        timerUpdates.add(Expressions.col(TIMER));
      }
      addValues(keyCount);
      Calc updateCalc = calc(keysAndState(), updates);
      StateSchema state = schema(updateCalc.outputSchema(), keyPositions, accumulators);
      Calc valueCalc = calc(state.changes(), values);
      ProcessPlan.Timers timers = hasTimers() ? timers(state) : null;
      return new Steps(keyCalc, groups, state, valueCalc, updateCalc, timers, mapSteps());
    }

    private Map<String, MapSteps> mapSteps() {
      Map<String, MapSteps> steps = new LinkedHashMap<>();
      for (MapStateSchema map : entries().states(!stateTtl.isNone())) {
        MapSteps step =
            new MapSteps.Builder(map, input.select(keys), keyColumns(), stateTtl).build();
        resolved.add(step::close);
        steps.put(map.name(), step);
      }
      return steps;
    }

    private void addValues(int keyCount) {
      if (!stateTtl.isNone()) {
        accumulators.add(stateTtl.updateTime());
      }
      LastValues last = new LastValues(stateColumns);
      accumulators.addAll(last.accumulators(keyCount));
      values.addAll(last.values());
      updates.addAll(last.updates());
      timerUpdates.addAll(last.noValues());
      if (hasTimers()) {
        updates.add(Expressions.lit(false).as(IS_TIMER));
        timerUpdates.add(Expressions.col(IS_TIMER));
        accumulators.add(
            new Accumulator(isTimer(), Function.LAST, keyCount + 2 * stateColumns.size()));
      }
    }

    private ProcessPlan.Timers timers(StateSchema state) {
      List<Expression> removals = new ArrayList<>(timerUpdates.subList(0, timerUpdates.size() - 1));
      removals.add(Expressions.lit(false).as(IS_TIMER));
      List<Expression> timers = columns(timers().names());
      Calc set = calc(state.changes(), Optional.of(Expressions.col(isTimer())), timers);
      return new ProcessPlan.Timers(
          set,
          calc(timers(), keyColumns()),
          calc(timerChanges(), timerUpdates),
          calc(timers(), removals));
    }

    private Schema timers() {
      return ProcessPlan.this.timers();
    }

    private List<Expression> keyColumns() {
      List<Expression> columns = columns(keys);
      if (hasTimers()) {
        columns.add(noTimer());
      }
      return columns;
    }

    private Calc calc(Schema schema, List<Expression> columns) {
      return calc(schema, Optional.empty(), columns);
    }

    private Calc calc(Schema schema, Optional<Expression> condition, List<Expression> columns) {
      Calc calc = Calc.of(schema, condition, columns, ExpressionSettings.DEFAULT.context());
      resolved.add(calc::close);
      return calc;
    }
  }

  private static Expression noTimer() {
    return Expressions.nullOf(DataType.INT64).as(TIMER);
  }

  // Timers lie in slices: the name tells how wide they are.
  private String isTimer() {
    return "$IS_TIMER(" + formatWithHighestUnit(function.timerSlices()) + ")";
  }

  static List<Expression> columns(List<String> names) {
    return names.stream().map(Expressions::col).collect(Collectors.toCollection(ArrayList::new));
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
   * maps=[visits]}, {@code lists=[bids]} and {@code stateTtl=[1 h]} behind it if there are any.
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
        + "]"
        + entries()
        + stateTtl.text()
        + ")";
  }

  private static String name(KeyedBatchFunction function) {
    String name = function.getClass().getSimpleName();
    return name.isEmpty() ? "anonymous" : name;
  }
}
