// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import java.io.Serializable;

/**
 * A value that is kept for each key and combined with the values of the key's rows. Nulls are left
 * out.
 *
 * @param name of the value; unique among the accumulators and key columns of a table
 * @param function how values are combined
 * @param column position of the input column; {@link #ALL_ROWS} for a count of all rows; {@link
 *     #TIME} for the time of updates
 */
@PublicEvolving
public record Accumulator(String name, Function function, int column) implements Serializable {
  /** The column of a count of all rows. */
  public static final int ALL_ROWS = -1;

  /** The column of a time: each update is given one for all its rows. */
  public static final int TIME = -2;

  private static final int MAX_DIGITS = 38;

  /**
   * How values are combined. Each function is associative and commutative, but sums of
   * floating-point numbers, which are added in the order of the rows.
   */
  public enum Function {
    /** Number of values, a BIGINT. */
    COUNT,
    /**
     * Number of rows of the key: those with a value. Other rows bring values to accumulators of a
     * key and do not make it present.
     */
    COUNT_ROWS,
    /**
     * Sum of integers, a BIGINT that wraps; of decimals, a DECIMAL(38) of their scale, which is
     * null while the exact sum has more digits; of floating-point numbers their type, as a loop
     * over the rows gives it, beginning at -0.0, and again when all rows of a key were taken back.
     */
    SUM,
    /**
     * Smallest value, in the order of numbers; of floating-point numbers in the order of {@link
     * Double#compare}; of strings in the order of their bytes as unsigned numbers. Unspecified if
     * there is no value: count the values to know.
     */
    MIN,
    /** Largest value, likewise. */
    MAX,
    /**
     * Sum of the squared differences of DOUBLE values from their mean, a DOUBLE, by Welford's
     * method in the order of the rows; 0 if there is no value, and less than 0 only by rounding.
     */
    M2,
    /**
     * First value in the order of the rows. Unspecified if there is no value: count the values to
     * know.
     */
    FIRST,
    /**
     * Last value, likewise. It stays when all rows of a key were taken back; a row that takes
     * another back has a null.
     */
    LAST,
    /**
     * The strings one behind the other, in the order of the rows; empty if there is no value. None
     * may have 512 MiB or more when further rows come.
     */
    LISTAGG;

    /** Whether values of {@code type} can be combined. */
    public boolean supports(DataType type) {
      return switch (this) {
        case COUNT, COUNT_ROWS -> true;
        case SUM -> type.isNumeric();
        case MIN, MAX, FIRST, LAST ->
            AccumulatorValue.isSupported(type) || WideValue.isSupported(type);
        case M2 -> type.equals(DataType.FLOAT64);
        case LISTAGG -> type.equals(DataType.STRING);
      };
    }
  }

  /** The number of rows. */
  public static Accumulator countRows(String name) {
    return new Accumulator(name, Function.COUNT, ALL_ROWS);
  }

  /**
   * The number of rows of each key, of which a batch has others too.
   *
   * @param column position of a column that is null in the other rows
   */
  public static Accumulator countRows(String name, int column) {
    return new Accumulator(name, Function.COUNT_ROWS, column);
  }

  /**
   * The time of the last update of a key, in milliseconds since the epoch. A table whose first
   * accumulator is a time has rows that expire.
   */
  public static Accumulator updateTime(String name) {
    return new Accumulator(name, Function.MAX, TIME);
  }

  /**
   * The time of the first update of a key, likewise; for tables whose other accumulators do not
   * change with later updates.
   */
  public static Accumulator creationTime(String name) {
    return new Accumulator(name, Function.MIN, TIME);
  }

  /** Whether this is the time of an update. */
  public boolean isTime() {
    return column == TIME;
  }

  public boolean isRowCount() {
    return function == Function.COUNT_ROWS || (function == Function.COUNT && column == ALL_ROWS);
  }

  /** Whether a smallest or largest value of {@code type} is kept in one word. */
  public static boolean isOneWord(DataType type) {
    return AccumulatorValue.isSupported(type);
  }

  private boolean isOneValue() {
    return function == Function.FIRST || function == Function.LAST;
  }

  /** Whether it is a string that grows by those of further rows. */
  public boolean isList() {
    return function == Function.LISTAGG;
  }

  /** Whether rows can be taken back. */
  boolean isRetractable() {
    boolean isExtreme = function == Function.MIN || function == Function.MAX;
    return isTime() || (!isExtreme && function != Function.FIRST && !isList());
  }

  /** Whether it counts rows or values. */
  public boolean isCount() {
    return function == Function.COUNT || function == Function.COUNT_ROWS;
  }

  /**
   * The type of the value.
   *
   * @param input the columns of the batches
   */
  public DataType type(Schema input) {
    return switch (function) {
      case COUNT, COUNT_ROWS -> DataType.INT64;
      case SUM -> sumType(input.type(column));
      case MIN, MAX -> isTime() ? DataType.INT64 : input.type(column);
      case M2, FIRST, LAST, LISTAGG -> input.type(column);
    };
  }

  private static DataType sumType(DataType type) {
    if (type.isFloatingPoint()) {
      return type;
    }
    return type.isDecimal() ? DataType.decimal(MAX_DIGITS, type.scale()) : DataType.INT64;
  }

  /** Whether it is one value that has two words; see {@link WideValue}. */
  public boolean isWide(Schema input) {
    boolean isExtreme = function == Function.MIN || function == Function.MAX;
    boolean isOne = isOneValue() || isExtreme || isList();
    return isOne && column >= 0 && WideValue.isSupported(input.type(column));
  }

  /** Whether it is one STRING or BINARY value. */
  public boolean isString(Schema input) {
    return isWide(input) && input.type(column).id().isVariableWidth();
  }

  /** Whether values are combined in the order of the rows. */
  public boolean isOrdered(Schema input) {
    return function == Function.M2
        || isWide(input)
        || isOneValue()
        || (function == Function.SUM && input.type(column).isFloatingPoint());
  }

  /** Whether the value depends on the order of the rows. */
  boolean dependsOnOrder(Schema input) {
    return isOrdered(input) && function != Function.MIN && function != Function.MAX;
  }

  /** Whether the value may be null though a value was accumulated. */
  public boolean isNullable(Schema input) {
    return function == Function.SUM && input.type(column).isDecimal();
  }

  /**
   * The number of words that the value is kept in. Sums of numbers with up to 18 digits fit two
   * words, however many there are; sums of others have a third, so that they may grow beyond 38
   * digits and return.
   */
  public int words(Schema input) {
    if (function == Function.M2) {
      return M2.WORDS;
    }
    if (isWide(input)) {
      return WideValue.WORDS;
    }
    if (isOneValue()) {
      return 2;
    }
    if (!isNullable(input)) {
      return 1;
    }
    return input.type(column).id() == TypeId.DECIMAL128 ? 3 : 2;
  }

  /** The operation of a word. */
  public int operation(Schema input, int word) {
    if (isWide(input)) {
      return WideValue.operation(function, word);
    }
    if (word == 0) {
      return AccumulatorValue.operation(function, type(input));
    }
    return isOrdered(input) ? AccumulatorValue.FURTHER : AccumulatorValue.CARRY;
  }

  /**
   * Checks that the function is defined for the column.
   *
   * @throws IllegalArgumentException if it is not
   */
  void check(Schema input) {
    if (column == ALL_ROWS) {
      if (function != Function.COUNT) {
        throw new IllegalArgumentException("expected a column for " + function + " '" + name + "'");
      }
      return;
    }
    if (isTime()) {
      if (function != Function.MIN && function != Function.MAX) {
        throw new IllegalArgumentException(
            "expected the MIN or MAX of a time, got " + function + " '" + name + "'");
      }
      return;
    }
    Field field = input.field(column);
    if (!function.supports(field.type())) {
      throw new IllegalArgumentException(
          function
              + " of column '"
              + field.name()
              + "' is not supported: its type is "
              + field.type());
    }
  }
}
