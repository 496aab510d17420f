// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import static java.util.stream.Collectors.joining;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import io.millrace.expression.typed.TypedExpression;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Values of one expression for up to {@value #CAPACITY} rows on the host, by row. {@link #longs}
 * holds BOOL as 0 and 1, sign-extended integers, and the first part of two-part values. {@link
 * #doubles} holds FLOAT32 (results must be rounded to float) and FLOAT64. {@link #secondParts}
 * holds the second part of two-part values.
 *
 * <p>A STRUCT has its values in the rows of {@link #fields}, where they are undefined if it is
 * null. A LIST has {@link #length} elements from {@link #firstElement} on in the vector {@link
 * #elements}, which grows with {@link #appendElements}: arrays that were asked for before are then
 * out of date.
 *
 * <p>Values of null rows are undefined. The arrays are at least as long as the chunk, which may
 * have fewer than {@value #CAPACITY} rows. Not thread-safe.
 */
@PublicEvolving
public final class HostVector {
  /** Maximum number of rows in a chunk. */
  public static final int CAPACITY = 1024;

  private static final int MILLIS_PER_SECOND = 1_000;
  private static final int MICROS_PER_SECOND = 1_000_000;
  private static final int NANOS_PER_MILLI = 1_000_000;
  private static final int NANOS_PER_MICRO = 1_000;

  private static final int LONG_BITS = 64;

  private final DataType type;
  private final ValueKind kind;
  private final ByteArena arena;
  // Fields of a STRUCT, or the elements of a LIST.
  private final List<HostVector> children;
  private boolean[] nulls;
  private long[] longs;
  private long[] secondParts;
  private double[] doubles;
  private boolean hasNulls;
  private int elementCount;

  /** Creates a vector of {@value #CAPACITY} rows. */
  public HostVector(DataType type, ByteArena arena) {
    this(type, arena, CAPACITY);
  }

  /**
   * @param arena memory for the bytes of results, reset with each chunk
   * @param capacity number of rows, at most {@value #CAPACITY}
   */
  public HostVector(DataType type, ByteArena arena, int capacity) {
    this.type = type;
    this.kind = ValueKind.of(type);
    this.nulls = new boolean[capacity];
    this.longs = kind.isFloating() ? null : new long[capacity];
    this.secondParts = kind.isTwoPart() ? new long[capacity] : null;
    this.doubles = kind.isFloating() ? new double[capacity] : null;
    this.arena = arena;
    boolean isNested = kind == ValueKind.STRUCT || kind == ValueKind.LIST;
    this.children =
        (isNested ? type.fields() : List.<DataType.Field>of())
            .stream()
                .map(
                    field ->
                        new HostVector(field.type(), arena, kind == ValueKind.LIST ? 0 : capacity))
                .toList();
  }

  public int capacity() {
    return nulls.length;
  }

  public DataType type() {
    return type;
  }

  public ValueKind kind() {
    return kind;
  }

  /** Values or first parts by row. */
  public long[] longs() {
    return longs;
  }

  /** Second parts by row: high words, nanoseconds or lengths in bytes. */
  public long[] secondParts() {
    return secondParts;
  }

  /** Values of a floating-point kind by row. */
  public double[] doubles() {
    return doubles;
  }

  public boolean isNull(int row) {
    return hasNulls && nulls[row];
  }

  public boolean hasNulls() {
    return hasNulls;
  }

  /** Sets the row to null. */
  public void setNull(int row) {
    nulls[row] = true;
    hasNulls = true;
  }

  /** Marks all rows as not null, and forgets the elements of lists. */
  public void clear() {
    if (hasNulls) {
      Arrays.fill(nulls, false);
      hasNulls = false;
    }
    elementCount = 0;
    for (int i = 0; i < children.size(); i++) {
      children.get(i).clear();
    }
  }

  /** The fields of a STRUCT, by row. */
  public List<HostVector> fields() {
    return children;
  }

  /** The elements of all rows of a LIST. */
  public HostVector elements() {
    return children.get(0);
  }

  /** Position of the first element of a LIST in {@link #elements}. */
  public int firstElement(int row) {
    return (int) longs[row];
  }

  /**
   * Makes a row a LIST of {@code count} new elements, which are not null and otherwise undefined.
   *
   * @return the position of the first in {@link #elements}
   */
  public int appendElements(int row, int count) {
    int first = elementCount;
    elementCount = Math.addExact(elementCount, count);
    elements().reserve(elementCount);
    longs[row] = first;
    secondParts[row] = count;
    return first;
  }

  private void reserve(int rows) {
    if (rows <= nulls.length) {
      return;
    }
    int capacity = (int) Math.min(Integer.MAX_VALUE - 8L, Math.max(rows, 2L * nulls.length));
    nulls = Arrays.copyOf(nulls, capacity);
    longs = longs == null ? null : Arrays.copyOf(longs, capacity);
    secondParts = secondParts == null ? null : Arrays.copyOf(secondParts, capacity);
    doubles = doubles == null ? null : Arrays.copyOf(doubles, capacity);
    if (kind == ValueKind.STRUCT) {
      children.forEach(field -> field.reserve(rows));
    }
  }

  /** Makes a row equal to a row of another vector of the same type. */
  public void copy(int row, HostVector from, int fromRow) {
    if (from.isNull(fromRow)) {
      setNull(row);
    } else if (kind == ValueKind.STRUCT) {
      for (int i = 0; i < children.size(); i++) {
        children.get(i).copy(row, from.children.get(i), fromRow);
      }
    } else if (kind == ValueKind.LIST) {
      int length = from.length(fromRow);
      int first = appendElements(row, length);
      for (int i = 0; i < length; i++) {
        elements().copy(first + i, from.elements(), from.firstElement(fromRow) + i);
      }
    } else if (kind.isFloating()) {
      doubles[row] = from.doubles[fromRow];
    } else {
      longs[row] = from.longs[fromRow];
      if (kind.isTwoPart()) {
        secondParts[row] = from.secondParts[fromRow];
      }
    }
  }

  public boolean getBoolean(int row) {
    return longs[row] != 0;
  }

  public void setBoolean(int row, boolean value) {
    longs[row] = value ? 1 : 0;
  }

  /** Address of the bytes of a STRING or BINARY. Read-only memory. */
  public long address(int row) {
    return longs[row];
  }

  /** Length of a STRING or BINARY in bytes, or of a LIST in elements. */
  public int length(int row) {
    return (int) secondParts[row];
  }

  /**
   * Points a row at bytes of an operand or of {@link #allocate}, which live as long as the
   * evaluation.
   */
  public void setBytes(int row, long address, int length) {
    longs[row] = address;
    secondParts[row] = length;
  }

  /**
   * Allocates uninitialized memory for the bytes of a result. If the size exceeds 2 GiB or has
   * overflowed, throws an exception that {@link HostFunction#ofRow} turns into a failure of the
   * row.
   */
  public long allocate(long bytes) {
    return arena.allocate(bytes);
  }

  /** Stores a copy of the bytes. */
  public void setBytes(int row, byte[] bytes) {
    long address = arena.allocate(bytes.length);
    HostMemory.copyFromArray(address, bytes, 0, bytes.length);
    setBytes(row, address, bytes.length);
  }

  /** A copy of the bytes of a STRING or BINARY. */
  public byte[] getBytes(int row) {
    byte[] bytes = new byte[length(row)];
    HostMemory.copyToArray(bytes, 0, address(row), bytes.length);
    return bytes;
  }

  public void setString(int row, String text) {
    setBytes(row, text.getBytes(StandardCharsets.UTF_8));
  }

  public String getString(int row) {
    return new String(getBytes(row), StandardCharsets.UTF_8);
  }

  /** The value of a decimal of any width. */
  public BigDecimal getDecimal(int row) {
    BigInteger unscaled = BigInteger.valueOf(longs[row]);
    if (kind == ValueKind.DECIMAL128) {
      BigInteger low =
          unscaled.signum() < 0 ? unscaled.add(BigInteger.ONE.shiftLeft(LONG_BITS)) : unscaled;
      unscaled = BigInteger.valueOf(secondParts[row]).shiftLeft(LONG_BITS).add(low);
    }
    return new BigDecimal(unscaled, type.scale());
  }

  /** Stores a decimal with the scale of this vector, which must fit its precision. */
  public void setDecimal(int row, BigDecimal value) {
    BigInteger unscaled = value.unscaledValue();
    longs[row] = unscaled.longValue();
    if (kind == ValueKind.DECIMAL128) {
      secondParts[row] = unscaled.shiftRight(LONG_BITS).longValue();
    }
  }

  /** The date and time of a TIMESTAMP; in UTC if it is of a time zone. */
  public LocalDateTime getDateTime(int row) {
    long value = longs[row];
    return switch (type.id()) {
      case TIMESTAMP_MICROS ->
          LocalDateTime.ofEpochSecond(
              Math.floorDiv(value, MICROS_PER_SECOND),
              Math.floorMod(value, MICROS_PER_SECOND) * NANOS_PER_MICRO,
              ZoneOffset.UTC);
      case TIMESTAMP_NANOS -> ofMillis(value).plusNanos(secondParts[row]);
      default -> ofMillis(value);
    };
  }

  private static LocalDateTime ofMillis(long millis) {
    return LocalDateTime.ofEpochSecond(
        Math.floorDiv(millis, MILLIS_PER_SECOND),
        Math.floorMod(millis, MILLIS_PER_SECOND) * NANOS_PER_MILLI,
        ZoneOffset.UTC);
  }

  /** Stores the value of a literal, as in {@link TypedExpression.Literal}, or null. */
  public void setLiteral(int row, Object value) {
    if (value == null) {
      setNull(row);
    } else if (value instanceof Boolean bool) {
      setBoolean(row, bool);
    } else if (value instanceof Long number) {
      longs[row] = number;
    } else if (value instanceof Float || value instanceof Double) {
      doubles[row] = ((Number) value).doubleValue();
    } else if (value instanceof BigDecimal number) {
      setDecimal(row, number);
    } else if (value instanceof TimestampNanos timestamp) {
      longs[row] = timestamp.millis();
      secondParts[row] = timestamp.nanos();
    } else if (value instanceof BinaryValue binary) {
      setBytes(row, binary.bytes());
    } else {
      setString(row, (String) value);
    }
  }

  /** The value as a literal holds it, or null. */
  public Object getLiteral(int row) {
    if (isNull(row)) {
      return null;
    }
    return switch (kind) {
      case BOOL -> getBoolean(row);
      case FLOAT -> (float) doubles[row];
      case DOUBLE -> doubles[row];
      case BYTES ->
          type.id() == TypeId.BINARY ? new BinaryValue(getBytes(row)) : (Object) getString(row);
      case DECIMAL128 -> getDecimal(row);
      case TIMESTAMP_NANOS -> new TimestampNanos(longs[row], (int) secondParts[row]);
      case INT, LONG -> type.isDecimal() ? getDecimal(row) : (Object) longs[row];
      case STRUCT, LIST -> throw new IllegalStateException("no literal has the type " + type);
    };
  }

  /** The value as text for messages. */
  public String describe(int row) {
    if (isNull(row)) {
      return "NULL";
    }
    return switch (kind) {
      case BOOL -> Boolean.toString(getBoolean(row));
      case FLOAT -> Float.toString((float) doubles[row]);
      case DOUBLE -> Double.toString(doubles[row]);
      case BYTES -> "'" + getString(row) + "'";
      case DECIMAL128 -> getDecimal(row).toPlainString();
      case TIMESTAMP_NANOS -> longs[row] + " ms + " + secondParts[row] + " ns";
      case INT, LONG -> ValueText.of(type, longs[row]);
      case STRUCT ->
          children.stream().map(field -> field.describe(row)).collect(joining(", ", "ROW(", ")"));
      case LIST ->
          IntStream.range(firstElement(row), firstElement(row) + length(row))
              .mapToObj(elements()::describe)
              .collect(joining(", ", "[", "]"));
    };
  }
}
