// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.aggregate.function.BatchAggregateFunction;
import java.io.Serializable;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.annotation.PublicEvolving;

/**
 * An aggregate function of the rows of a key, with the meaning of Flink SQL. Nulls are left out;
 * the result is null if there is no value, and 0 of {@code COUNT}. Immutable.
 *
 * <pre>{@code
 * bids.keyBy("auction").aggregate(count().as("bids"), max("price").as("highest"))
 * }</pre>
 */
@PublicEvolving
public final class Aggregate implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The functions. */
  public enum Function {
    COUNT,
    SUM,
    /** As SUM, but 0 if there is no value: what Flink's planner makes of some aggregates. */
    SUM0,
    MIN,
    MAX,
    AVG,
    FIRST_VALUE,
    LAST_VALUE,
    STDDEV_POP,
    STDDEV_SAMP,
    VAR_POP,
    VAR_SAMP,
    /** What Flink's planner makes of variances and standard deviations. */
    SQUARED_DIFFERENCES,
    LISTAGG,
    /** A {@link BatchAggregateFunction}. */
    USER_DEFINED
  }

  private static final String DEFAULT_SEPARATOR = ",";

  private final Call call;
  // null: no filter.
  private final Expression filter;
  private final String name;
  private final boolean isDistinct;

  /**
   * A function and its arguments.
   *
   * @param arguments none of {@code COUNT(*)}
   * @param separator only of LISTAGG; null: the default
   * @param userDefined null if the function is not user-defined
   */
  private record Call(
      Function function,
      List<Expression> arguments,
      String separator,
      BatchAggregateFunction userDefined)
      implements Serializable {
    private static Call of(Function function, Expression argument, String separator) {
      return new Call(function, List.of(argument), separator, null);
    }

    private String name() {
      return userDefined == null ? function.toString() : userDefined.name();
    }
  }

  private Aggregate(Call call, Expression filter, String name, boolean isDistinct) {
    this.call = call;
    this.filter = filter;
    this.name = name;
    this.isDistinct = isDistinct;
  }

  /** {@code COUNT(*)}: the number of rows. */
  public static Aggregate count() {
    return new Aggregate(new Call(Function.COUNT, List.of(), null, null), null, null, false);
  }

  /** {@code COUNT(argument)}: the number of rows for which {@code argument} is not null. */
  public static Aggregate count(Expression argument) {
    return of(Function.COUNT, argument);
  }

  /** As {@link #count(Expression)}, of a column. */
  public static Aggregate count(String column) {
    return count(Expressions.col(column));
  }

  /**
   * {@code SUM(argument)}: of integers a number of the argument's type, which wraps; of decimals a
   * DECIMAL(38) of the argument's scale, which is null while the sum has more digits.
   */
  public static Aggregate sum(Expression argument) {
    return of(Function.SUM, argument);
  }

  /** As {@link #sum(Expression)}, of a column. */
  public static Aggregate sum(String column) {
    return sum(Expressions.col(column));
  }

  /** As {@link #sum(Expression)}, but 0 if there is no value. */
  public static Aggregate sum0(Expression argument) {
    return of(Function.SUM0, argument);
  }

  /**
   * {@code MIN(argument)} of numbers, dates, times, strings and booleans. Of floating-point numbers
   * -0.0 is less than 0.0 and NaN is the greatest value; strings are compared by their bytes, as
   * unsigned numbers; false is less than true.
   */
  public static Aggregate min(Expression argument) {
    return of(Function.MIN, argument);
  }

  /** As {@link #min(Expression)}, of a column. */
  public static Aggregate min(String column) {
    return min(Expressions.col(column));
  }

  /** {@code MAX(argument)}, with the order of {@link #min(Expression)}. */
  public static Aggregate max(Expression argument) {
    return of(Function.MAX, argument);
  }

  /** As {@link #max(Expression)}, of a column. */
  public static Aggregate max(String column) {
    return max(Expressions.col(column));
  }

  /**
   * {@code AVG(argument)}: of integers a number of the argument's type, truncated; of decimals a
   * DECIMAL(38) with the argument's scale, but at least 6, rounded.
   */
  public static Aggregate avg(Expression argument) {
    return of(Function.AVG, argument);
  }

  /** As {@link #avg(Expression)}, of a column. */
  public static Aggregate avg(String column) {
    return avg(Expressions.col(column));
  }

  /**
   * {@code FIRST_VALUE(argument)} of values with one part, so not of ARRAY and ROW: the value that
   * came first, in the order in which rows arrive in the subtask of the key; in windows, in the
   * first slice of time.
   */
  public static Aggregate firstValue(Expression argument) {
    return of(Function.FIRST_VALUE, argument);
  }

  /** As {@link #firstValue(Expression)}, of a column. */
  public static Aggregate firstValue(String column) {
    return firstValue(Expressions.col(column));
  }

  /** {@code LAST_VALUE(argument)}: the value that came last; see {@link #firstValue}. */
  public static Aggregate lastValue(Expression argument) {
    return of(Function.LAST_VALUE, argument);
  }

  /** As {@link #lastValue(Expression)}, of a column. */
  public static Aggregate lastValue(String column) {
    return lastValue(Expressions.col(column));
  }

  /**
   * {@code STDDEV_POP(argument)}: the square root of {@link #varPop}, with its type, of which it is
   * truncated or rounded as a cast does it.
   */
  public static Aggregate stddevPop(Expression argument) {
    return of(Function.STDDEV_POP, argument);
  }

  /** As {@link #stddevPop(Expression)}, of a column. */
  public static Aggregate stddevPop(String column) {
    return stddevPop(Expressions.col(column));
  }

  /** {@code STDDEV_SAMP(argument)}, also called {@code STDDEV}: likewise of {@link #varSamp}. */
  public static Aggregate stddevSamp(Expression argument) {
    return of(Function.STDDEV_SAMP, argument);
  }

  /** As {@link #stddevSamp(Expression)}, of a column. */
  public static Aggregate stddevSamp(String column) {
    return stddevSamp(Expressions.col(column));
  }

  /**
   * {@code VAR_POP(argument)} of numbers: the mean of the squared differences from the mean,
   * computed as a DOUBLE. Of integers and floating-point numbers a number of the argument's type;
   * of decimals a DECIMAL(38) with the argument's scale, but at least 6.
   */
  public static Aggregate varPop(Expression argument) {
    return of(Function.VAR_POP, argument);
  }

  /** As {@link #varPop(Expression)}, of a column. */
  public static Aggregate varPop(String column) {
    return varPop(Expressions.col(column));
  }

  /**
   * {@code VAR_SAMP(argument)}, also called {@code VARIANCE}: as {@link #varPop}, divided by one
   * less than the number of values; null if there is only one.
   */
  public static Aggregate varSamp(Expression argument) {
    return of(Function.VAR_SAMP, argument);
  }

  /** As {@link #varSamp(Expression)}, of a column. */
  public static Aggregate varSamp(String column) {
    return varSamp(Expressions.col(column));
  }

  /**
   * The sum of the squared differences of numbers from their mean, a DOUBLE: {@link #varPop} is it
   * divided by the number of values.
   */
  public static Aggregate squaredDifferences(Expression argument) {
    return of(Function.SQUARED_DIFFERENCES, argument);
  }

  /** {@code LISTAGG(argument)}: as {@link #listAgg(Expression, String)}, separated by a comma. */
  public static Aggregate listAgg(Expression argument) {
    return of(Function.LISTAGG, argument);
  }

  /** As {@link #listAgg(Expression)}, of a column. */
  public static Aggregate listAgg(String column) {
    return listAgg(Expressions.col(column));
  }

  /**
   * {@code LISTAGG(argument, separator)} of strings: the values with separators between them, in
   * the order in which rows arrive in the subtask of the key; in windows, in the order of the
   * slices of time. The string of a key has less than 512 MiB: if it has more, the job fails with
   * the next batch.
   *
   * @param separator may be empty
   */
  public static Aggregate listAgg(Expression argument, String separator) {
    return of(Function.LISTAGG, argument, Objects.requireNonNull(separator, "separator is null"));
  }

  /** As {@link #listAgg(Expression, String)}, of a column. */
  public static Aggregate listAgg(String column, String separator) {
    return listAgg(Expressions.col(column), separator);
  }

  /**
   * An aggregate function of one's own over the rows of a key.
   *
   * @param arguments with types other than ARRAY and ROW; the function gets a column for each
   */
  public static Aggregate of(BatchAggregateFunction function, Expression... arguments) {
    Objects.requireNonNull(function, "function is null");
    Call call = new Call(Function.USER_DEFINED, List.of(arguments), null, function);
    return new Aggregate(call, null, null, false);
  }

  /** As {@link #of(BatchAggregateFunction, Expression...)}, without arguments. */
  public static Aggregate of(BatchAggregateFunction function) {
    return of(function, new Expression[0]);
  }

  /** As {@link #of(BatchAggregateFunction, Expression...)}, of columns. */
  public static Aggregate of(BatchAggregateFunction function, String... columns) {
    return of(function, Stream.of(columns).map(Expressions::col).toArray(Expression[]::new));
  }

  private static Aggregate of(Function function, Expression argument) {
    return of(function, argument, null);
  }

  private static Aggregate of(Function function, Expression argument, String separator) {
    Objects.requireNonNull(argument, "argument is null");
    return new Aggregate(Call.of(function, argument, separator), null, null, false);
  }

  /** This aggregate with the name of its column; without one it is called by its text. */
  public Aggregate as(String newName) {
    Objects.requireNonNull(newName);
    return new Aggregate(call, filter, newName, isDistinct);
  }

  /**
   * This aggregate over the rows for which {@code condition} is true: SQL's {@code FILTER (WHERE
   * condition)}.
   */
  public Aggregate filter(Expression condition) {
    Objects.requireNonNull(condition);
    return new Aggregate(call, condition, name, isDistinct);
  }

  /**
   * This aggregate over the different values of its argument: SQL's {@code COUNT(DISTINCT
   * argument)}. Of a key's rows with the same value, one counts.
   *
   * @throws IllegalStateException if this has no argument, such as {@code COUNT(*)}
   */
  public Aggregate distinct() {
    if (call.arguments.isEmpty()) {
      throw new IllegalStateException(this + " has no argument, so it has no DISTINCT values");
    }
    return new Aggregate(call, filter, name, true);
  }

  public Function function() {
    return call.function;
  }

  /** The first argument. */
  Optional<Expression> argument() {
    return call.arguments.stream().findFirst();
  }

  List<Expression> arguments() {
    return call.arguments;
  }

  boolean isUserDefined() {
    return call.function == Function.USER_DEFINED;
  }

  /** The function of the user; null if the function is not user-defined. */
  BatchAggregateFunction userDefined() {
    return call.userDefined;
  }

  /** What stands between two values of LISTAGG. */
  String separator() {
    return call.separator == null ? DEFAULT_SEPARATOR : call.separator;
  }

  // The smallest and the largest value are those of the different values.
  boolean isDistinct() {
    return isDistinct && !isExtreme();
  }

  /** Whether it is MIN or MAX. */
  boolean isExtreme() {
    return call.function == Function.MIN || call.function == Function.MAX;
  }

  Optional<Expression> filter() {
    return Optional.ofNullable(filter);
  }

  /** The name of the result's column. */
  public String name() {
    return name == null ? text() : name;
  }

  /** This aggregate without the name of its column. */
  String text() {
    boolean isAllRows = call.arguments.isEmpty() && !isUserDefined();
    String arguments =
        call.arguments.stream().map(Expression::toString).collect(Collectors.joining(", "));
    String text = isAllRows ? "*" : arguments;
    text += call.separator == null ? "" : ", " + Expressions.lit(call.separator);
    text = call.name() + (isDistinct ? "(DISTINCT " : "(") + text + ")";
    return filter == null ? text : text + " FILTER (WHERE " + filter + ")";
  }

  @Override
  public String toString() {
    return name == null ? text() : text() + " AS " + name;
  }
}
