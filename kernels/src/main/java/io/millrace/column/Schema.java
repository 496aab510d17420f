// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType.Field;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The names, types and nullability of a table's columns, in order.
 *
 * @param fields names are unique
 */
@PublicEvolving
public record Schema(List<Field> fields) implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  public Schema {
    fields = List.copyOf(fields);
    Set<String> names = new HashSet<>();
    for (Field field : fields) {
      if (!names.add(field.name())) {
        throw new IllegalArgumentException("two columns are named '" + field.name() + "'");
      }
    }
  }

  public static Schema of(Field... fields) {
    return new Schema(List.of(fields));
  }

  public int size() {
    return fields.size();
  }

  public Field field(int index) {
    return fields.get(index);
  }

  public DataType type(int index) {
    return fields.get(index).type();
  }

  public List<String> names() {
    return fields.stream().map(Field::name).toList();
  }

  /**
   * The position of the column with this name.
   *
   * @throws IllegalArgumentException if there is none; the message lists the columns
   */
  public int indexOf(String name) {
    for (int i = 0; i < fields.size(); i++) {
      if (fields.get(i).name().equals(name)) {
        return i;
      }
    }
    throw new IllegalArgumentException(
        "there is no column '" + name + "'; the columns are " + String.join(", ", names()));
  }

  /** The columns with these names, in this order. */
  public Schema select(List<String> names) {
    return new Schema(names.stream().map(name -> fields.get(indexOf(name))).toList());
  }

  /** These columns, and {@code others} behind them. */
  public Schema with(Field... others) {
    return new Schema(Stream.concat(fields.stream(), Stream.of(others)).toList());
  }

  /** A number that equal schemas share and different ones almost surely do not: 64-bit FNV-1a. */
  public long fingerprint() {
    long hash = FNV_OFFSET;
    for (byte b : canonical(fields).getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xff)) * FNV_PRIME;
    }
    return hash;
  }

  // Not toString: lengths keep names apart, and the nullability of nested fields counts.
  private static String canonical(List<Field> fields) {
    return fields.stream()
        .map(
            field ->
                String.format(
                    Locale.ROOT,
                    "%d:%s %s(%d,%d,%b) %b %s",
                    field.name().length(),
                    field.name(),
                    field.type().id(),
                    field.type().precision(),
                    field.type().scale(),
                    field.type().withTimeZone(),
                    field.nullable(),
                    canonical(field.type().fields())))
        .collect(Collectors.joining(";", "{", "}"));
  }

  @Override
  public String toString() {
    return fields.stream().map(Field::toString).collect(Collectors.joining(", ", "(", ")"));
  }
}
