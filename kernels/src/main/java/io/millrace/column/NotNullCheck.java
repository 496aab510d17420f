// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType.Field;
import io.millrace.device.HostMemory;
import io.millrace.memory.Buffer;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Looks for nulls in NOT NULL fields, nested ones too. Fields of a null struct and elements outside
 * all lists do not count. In a NOT NULL dictionary column the code of a null value is a null.
 *
 * <p>Reads nothing of columns whose null counts are known to be right.
 */
@Internal
public final class NotNullCheck {
  private static final List<Field> TIMESTAMP_PARTS =
      List.of(
          new Field("millis", DataType.INT64, false),
          new Field("nanos_of_milli", DataType.INT32, false));

  private final ToLongFunction<Buffer> addresses;

  private NotNullCheck(ToLongFunction<Buffer> addresses) {
    this.addresses = addresses;
  }

  /**
   * Checks one column of each field.
   *
   * @param columns still owned by the caller
   * @param addresses the addresses at which the host reads masks, list offsets and dictionary codes
   * @return a message that starts with the column's name; empty if the columns are valid
   */
  public static Optional<String> failure(
      List<Field> fields, List<Column> columns, ToLongFunction<Buffer> addresses) {
    NotNullCheck check = new NotNullCheck(addresses);
    for (int i = 0; i < fields.size(); i++) {
      Column column = columns.get(i);
      Optional<String> failure = check.failure(fields.get(i), "", column, () -> all(column.size()));
      if (failure.isPresent()) {
        return failure;
      }
    }
    return Optional.empty();
  }

  /**
   * As {@link #failure}, for the table whose rows are the elements of a STRUCT column.
   *
   * @param rows still owned by the caller
   */
  public static Optional<String> failureInRows(Column rows, ToLongFunction<Buffer> addresses) {
    return new NotNullCheck(addresses).failureInChildren("", rows, () -> all(rows.size()));
  }

  private static BitSet all(int elements) {
    BitSet all = new BitSet(elements);
    all.set(0, elements);
    return all;
  }

  /** Whether a NOT NULL field may have nulls as far as the null counts are known. */
  static boolean isSuspect(Field field, Column column) {
    if (!field.nullable() && (mayHaveNulls(column) || mayHaveNullValues(column))) {
      return true;
    }
    List<Field> fields = childFields(column.type());
    for (int i = 0; i < fields.size(); i++) {
      if (isSuspect(fields.get(i), child(column, i))) {
        return true;
      }
    }
    return false;
  }

  private static boolean mayHaveNulls(Column column) {
    return column.isNullable() && !(column.isNullCountKnown() && column.knownNullCount() == 0);
  }

  private static boolean mayHaveNullValues(Column column) {
    return column.type().id() == TypeId.DICTIONARY && mayHaveNulls(column.child(0));
  }

  /** The fields of the values within a value of {@code type}, offsets left out. */
  public static List<Field> childFields(DataType type) {
    return switch (type.id()) {
      case STRUCT, LIST, DICTIONARY -> type.fields();
      case TIMESTAMP_NANOS -> TIMESTAMP_PARTS;
      default -> List.of();
    };
  }

  private static Column child(Column column, int field) {
    return column.child(column.hasOffsets() ? field + 1 : field);
  }

  /**
   * @param prefix the prefix of the field's name in error messages
   * @param live gives the elements of {@code column} that count
   */
  private Optional<String> failure(
      Field field, String prefix, Column column, Supplier<BitSet> live) {
    if (!isSuspect(field, column)) {
      return Optional.empty();
    }
    BitSet elements = live.get();
    BitSet valid = valid(column, elements);
    String path = prefix + field.name();
    if (!field.nullable()) {
      int nulls = elements.cardinality() - valid.cardinality();
      nulls += mayHaveNullValues(column) ? nullValues(column, valid) : 0;
      if (nulls > 0) {
        return Optional.of("column '" + path + "' is NOT NULL and has " + nulls + " nulls");
      }
    }
    return failureInChildren(path + ".", column, () -> valid);
  }

  private Optional<String> failureInChildren(String prefix, Column column, Supplier<BitSet> valid) {
    List<Field> fields = childFields(column.type());
    for (int i = 0; i < fields.size(); i++) {
      Optional<String> failure =
          failure(fields.get(i), prefix, child(column, i), () -> children(column, valid.get()));
      if (failure.isPresent()) {
        return failure;
      }
    }
    return Optional.empty();
  }

  private BitSet valid(Column column, BitSet live) {
    BitSet valid = (BitSet) live.clone();
    if (mayHaveNulls(column)) {
      long mask = addresses.applyAsLong(column.validity().orElseThrow());
      long first = column.offset();
      for (int i = live.nextSetBit(0); i >= 0; i = live.nextSetBit(i + 1)) {
        valid.set(i, HostMemory.getBit(mask, first + i));
      }
    }
    return valid;
  }

  private int nullValues(Column column, BitSet valid) {
    Column values = column.child(0);
    BitSet validValues = valid(values, all(values.size()));
    long codes = addresses.applyAsLong(column.data().orElseThrow());
    return (int) valid.stream().filter(i -> !validValues.get(code(column, codes, i))).count();
  }

  /** The elements of the child or children that belong to an element in {@code valid}. */
  private BitSet children(Column column, BitSet valid) {
    BitSet children = new BitSet();
    switch (column.type().id()) {
      case LIST -> {
        Column offsets = column.child(0);
        long address =
            addresses.applyAsLong(offsets.data().orElseThrow())
                + ((long) offsets.offset() + column.offset()) * Integer.BYTES;
        valid.stream()
            .mapToLong(i -> address + (long) i * Integer.BYTES)
            .forEach(
                at -> children.set(HostMemory.getInt(at), HostMemory.getInt(at + Integer.BYTES)));
      }
      case DICTIONARY -> {
        long codes = addresses.applyAsLong(column.data().orElseThrow());
        valid.stream().map(i -> code(column, codes, i)).forEach(children::set);
      }
      default -> valid.stream().forEach(i -> children.set(column.offset() + i));
    }
    return children;
  }

  private static int code(Column column, long codes, int element) {
    return HostMemory.getInt(codes + ((long) column.offset() + element) * Integer.BYTES);
  }
}
