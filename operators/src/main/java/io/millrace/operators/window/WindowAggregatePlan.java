// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static org.apache.flink.util.TimeUtils.formatWithHighestUnit;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.transfer.ProcessingTimeColumn;
import io.millrace.state.row.ConstantColumn;
import java.io.Serializable;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.runtime.util.TimeWindowUtil;

/**
 * Aggregates by key and window: the steps of a {@link GroupAggregatePlan}, and the columns of the
 * window. Immutable; serialized with the job.
 */
@Internal
public final class WindowAggregatePlan implements Serializable {
  /** The columns of the window, with the names that they have in Flink SQL. */
  public static final String WINDOW_START = "window_start";

  public static final String WINDOW_END = "window_end";
  public static final String WINDOW_TIME = "window_time";

  private static final long serialVersionUID = 1L;
  private static final String LAST_TIME = "$last_time";
  private static final String FIRST_TIME = "$first_time";
  private static final DataType TIMESTAMP = DataType.timestamp(3);

  private final GroupAggregatePlan aggregates;
  private final Schema input;
  private final List<String> keys;
  private final TimeWindow window;
  private final ExpressionSettings settings;
  private final Duration allowedLateness;
  private final String selectText;
  private final Duration earlyFiring;
  private final Schema outputSchema;

  /**
   * The steps.
   *
   * @param times the times of rows in the session's zone; empty if the input has them
   * @param results of a state table's values with the columns of the window behind them
   */
  record Steps(GroupAggregatePlan.Steps aggregates, Optional<Calc> times, Calc results)
      implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      failure.run(aggregates::close);
      times.ifPresent(calc -> failure.run(calc::close));
      failure.run(results::close);
      failure.rethrow();
    }
  }

  /** A plan without allowed lateness and early firing. */
  public WindowAggregatePlan(
      Schema input,
      List<String> keys,
      TimeWindow window,
      List<Aggregate> aggregates,
      ExpressionSettings settings) {
    this(input, keys, window, aggregates, settings, Duration.ZERO, Duration.ZERO);
  }

  /**
   * @param input the columns of the batches
   * @param settings of the aggregates' expressions; the zone is the zone of windows over a
   *     TIMESTAMP_LTZ and over processing time
   * @param allowedLateness how long windows take rows behind their end, in milliseconds; or zero
   * @param earlyFiring the time between results of windows that have not fired, in whole
   *     milliseconds; zero: there are none
   * @throws ExpressionException as {@link GroupAggregatePlan}; if there is no time column or it has
   *     another type than TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits; if the input is a
   *     changelog; or if there is allowed lateness and the windows are of processing time, or they
   *     are not TUMBLE and an aggregate depends on the order of rows: a sum or average of FLOAT or
   *     DOUBLE, a variance, a first or last value or LISTAGG; or if there is early firing and the
   *     windows are sessions or of processing time, or there is such an aggregate or one that
   *     compares values of more than 8 bytes
   */
  public WindowAggregatePlan(
      Schema input,
      List<String> keys,
      TimeWindow window,
      List<Aggregate> aggregates,
      ExpressionSettings settings,
      Duration allowedLateness,
      Duration earlyFiring) {
    this.window = window;
    boolean hasTimes = !window.isProcessingTime() || !window.isSession();
    this.input = hasTimes ? input : ProcessingTimeColumn.addTo(input);
    this.keys = List.copyOf(keys);
    this.settings = settings;
    this.allowedLateness = allowedLateness;
    this.earlyFiring = earlyFiring;
    checkTimeColumn();
    if (RowKindColumn.isIn(input)) {
      throw new ExpressionException("windows over a changelog are not supported");
    }
    this.aggregates = new GroupAggregatePlan(this.input, keys, withTimes(aggregates), settings);
    this.selectText = new GroupAggregatePlan(input, keys, aggregates, settings).selectText();
    if (!this.aggregates.keptArguments().isEmpty()) {
      throw new ExpressionException(
          "DISTINCT and user-defined functions are not supported in windows: " + selectText);
    }
    checkLateness();
    checkEarlyFiring();
    try (Steps steps = steps()) {
      this.outputSchema = outputSchema(steps.results().outputSchema());
    }
  }

  private Schema outputSchema(Schema results) {
    if (!window.isSession()) {
      return results;
    }
    List<Field> fields = new ArrayList<>(results.fields());
    int first = fields.size() - windowFields().size();
    for (int i = 0; i < windowFields().size(); i++) {
      fields.set(first + i, windowFields().get(i));
    }
    return new Schema(fields);
  }

  // A session's times are values of its state, by which its state is found.
  private List<Aggregate> withTimes(List<Aggregate> selected) {
    if (!window.isSession() || selected.isEmpty()) {
      return selected;
    }
    String time = input.field(timeColumn()).name();
    List<Aggregate> all = new ArrayList<>();
    all.add(Aggregate.max(time).as(LAST_TIME));
    all.add(Aggregate.min(time).as(FIRST_TIME));
    all.addAll(selected);
    return all;
  }

  /** The position among the arguments of the times of rows, for sessions. */
  int timeArgument() {
    return aggregates.keyCount();
  }

  // The rows of a window of several slices come in the order of the slices, and late rows behind
  // them.
  private void checkLateness() {
    if (allowedLateness.isZero()) {
      return;
    }
    if (window.isProcessingTime() || window.isSession()) {
      throw new ExpressionException(
          "expected TUMBLE, HOP or CUMULATE of event time for allowed lateness, got " + window);
    }
    try (Steps steps = steps()) {
      if (window.function() != TimeWindow.Function.TUMBLE
          && steps.aggregates().state().dependsOnOrder()) {
        throw new ExpressionException(
            "expected TUMBLE for allowed lateness of aggregates that depend on the order of rows,"
                + " got "
                + window
                + " of "
                + selectText);
      }
    }
  }

  // Rows since the last results are combined with those before them as a whole.
  private void checkEarlyFiring() {
    if (!isEarly()) {
      return;
    }
    if (window.isProcessingTime() || window.isSession()) {
      throw new ExpressionException(
          "expected TUMBLE, HOP or CUMULATE of event time for early firing, got " + window);
    }
    try (Steps steps = steps()) {
      if (steps.aggregates().state().isOrdered()) {
        throw new ExpressionException(
            "expected aggregates for early firing that do not depend on the order of rows, nor"
                + " compare values of more than 8 bytes, got "
                + aggregates.selectText());
      }
    }
  }

  private void checkTimeColumn() {
    if (window.isProcessingTime()) {
      return;
    }
    String timeColumn = window.timeColumn().orElseThrow();
    int column = input.names().indexOf(timeColumn);
    if (column < 0) {
      throw new ExpressionException("there is no time column '" + timeColumn + "'");
    }
    DataType type = input.type(column);
    if (type.id() != TypeId.TIMESTAMP_MILLIS) {
      throw new ExpressionException(
          "expected TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits for time column '"
              + timeColumn
              + "', got "
              + type);
    }
  }

  TimeWindow window() {
    return window;
  }

  /** How long windows take rows behind their end. */
  Duration allowedLateness() {
    return allowedLateness;
  }

  /** The time between results of windows that have not fired; zero: there are none. */
  Duration earlyFiring() {
    return earlyFiring;
  }

  /** Whether there are results of windows that have not fired. */
  boolean isEarly() {
    return !earlyFiring.isZero();
  }

  // Whether rows have kinds; else all rows are inserted.
  private boolean isChangelog() {
    return isEarly() || !allowedLateness.isZero();
  }

  /** The position of the time column in the input; there is one. */
  int timeColumn() {
    return input.indexOf(window.timeColumn().orElse(ProcessingTimeColumn.NAME));
  }

  /**
   * The zone of the windows: UTC for a TIMESTAMP. Processing time is in the zone of the session.
   */
  ZoneId zone() {
    return isInstant() ? settings.zone() : ZoneOffset.UTC;
  }

  private boolean isInstant() {
    return window.isProcessingTime() || input.type(timeColumn()).withTimeZone();
  }

  /**
   * The keys, the results in their order, and the start, the end and the time of the window; with
   * allowed lateness or early firing also the kind of each row.
   */
  public Schema outputSchema() {
    return outputSchema;
  }

  /** The arguments, filters and results that the host computes, each with its reason. */
  public List<String> hostReasons() {
    return aggregates.hostReasons();
  }

  private List<Field> windowFields() {
    return List.of(
        new Field(WINDOW_START, TIMESTAMP, false),
        new Field(WINDOW_END, TIMESTAMP, false),
        new Field(WINDOW_TIME, DataType.timestamp(3, isInstant()), false));
  }

  /** The columns of the window that ends at {@code windowEnd}. */
  List<ConstantColumn> windowColumns(long windowEnd) {
    List<Field> fields = windowFields();
    return List.of(
        new ConstantColumn(fields.get(0), window.windowStart(windowEnd)),
        new ConstantColumn(fields.get(1), windowEnd),
        new ConstantColumn(fields.get(2), TimeWindowUtil.toEpochMills(windowEnd - 1, zone())));
  }

  /** The aggregates of the state of a slice. */
  public GroupAggregatePlan aggregates() {
    return aggregates;
  }

  /** Resolves the steps; the caller closes them. */
  Steps steps() {
    GroupAggregatePlan.Steps steps = aggregates.steps();
    try {
      Optional<Calc> times = hasLocalTimes() ? Optional.of(times()) : Optional.empty();
      Calc results =
          window.isSession() ? sessionResults(steps.results()) : results(steps.results());
      return new Steps(steps, times, results);
    } catch (RuntimeException | Error e) {
      steps.close();
      throw e;
    }
  }

  private boolean hasLocalTimes() {
    return !window.isProcessingTime()
        && !window.isSession()
        && isInstant()
        && !settings.zone().normalized().equals(ZoneOffset.UTC);
  }

  private Calc times() {
    return Calc.of(
        input,
        Optional.empty(),
        List.of(Expressions.col(window.timeColumn().orElseThrow()).cast(TIMESTAMP).as(WINDOW_TIME)),
        settings.context());
  }

  private static void checkNameIsFree(Schema schema, String name) {
    if (schema.names().contains(name)) {
      throw new ExpressionException("two columns are called '" + name + "'");
    }
  }

  // The columns of the window behind the others, where they may have masks without nulls.
  private Calc sessionResults(Calc values) {
    Schema schema = values.outputSchema();
    windowFields().forEach(field -> checkNameIsFree(schema, field.name()));
    long gap = window.sliceWidth();
    List<Expression> columns = new ArrayList<>();
    for (String name : schema.names()) {
      if (!List.of(LAST_TIME, FIRST_TIME, RowKindColumn.NAME).contains(name)) {
        columns.add(Expressions.col(name));
      }
    }
    columns.add(Expressions.col(FIRST_TIME).cast(TIMESTAMP).as(WINDOW_START));
    columns.add(lastTimePlus(gap).cast(TIMESTAMP).as(WINDOW_END));
    columns.add(lastTimePlus(gap - 1).as(WINDOW_TIME));
    return values.andThen(Calc.of(schema, Optional.empty(), columns, settings.context()));
  }

  private Expression lastTimePlus(long millis) {
    return Expressions.call("TIMESTAMPADD", "MILLISECOND", millis, Expressions.col(LAST_TIME))
        .cast(DataType.timestamp(3, isInstant()));
  }

  private Calc results(Calc changes) {
    Calc withWindow = changes;
    for (Field field : windowFields()) {
      checkNameIsFree(withWindow.outputSchema(), field.name());
      withWindow = withWindow.withLastColumn(field);
    }
    List<String> names = new ArrayList<>(withWindow.outputSchema().names());
    names.remove(RowKindColumn.NAME);
    if (isChangelog()) {
      names.add(RowKindColumn.NAME);
    }
    return withWindow.andThen(
        Calc.of(
            withWindow.outputSchema(),
            Optional.empty(),
            names.stream().map(Expressions::col).toList(),
            settings.context()));
  }

  /**
   * Such as {@code WindowAggregate(groupBy=[a], window=[TUMBLE(...)], select=[a, ...])}; with
   * {@code allowedLateness=[1 min]} and {@code earlyFiring=[1 s]} behind it if there are any.
   */
  @Override
  public String toString() {
    return "WindowAggregate(groupBy=["
        + String.join(", ", keys)
        + "], window=["
        + window
        + "], select=["
        + selectText
        + ", start(w$), end(w$), rowtime(w$)]"
        + text("allowedLateness", allowedLateness)
        + text("earlyFiring", earlyFiring)
        + ")";
  }

  private static String text(String name, Duration time) {
    return time.isZero() ? "" : ", " + name + "=[" + formatWithHighestUnit(time) + "]";
  }
}
