// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Lists of data types, for tests that must pass for each type. */
public final class DataTypes {
  private DataTypes() {}

  /** Each type whose elements have a fixed width in the data buffer, except DICTIONARY. */
  public static List<DataType> fixedWidth() {
    return List.of(
        DataType.BOOL,
        DataType.INT8,
        DataType.INT16,
        DataType.INT32,
        DataType.INT64,
        DataType.FLOAT32,
        DataType.FLOAT64,
        DataType.decimal(9, 2),
        DataType.decimal(18, 6),
        DataType.decimal(38, 10),
        DataType.DATE,
        DataType.TIME,
        DataType.timestamp(3),
        DataType.timestamp(6),
        DataType.timestamp(3, true),
        DataType.timestamp(6, true));
  }

  /** {@link #fixedWidth}, TIMESTAMP(9) with and without time zone, STRING and BINARY. */
  public static List<DataType> flat() {
    List<DataType> types = new ArrayList<>(fixedWidth());
    types.add(DataType.timestamp(9));
    types.add(DataType.timestamp(9, true));
    types.add(DataType.STRING);
    types.add(DataType.BINARY);
    return types;
  }

  /** LIST and STRUCT, and each of the two within the other. */
  public static List<DataType> nested() {
    DataType struct =
        DataType.struct(
            Field.of("id", DataType.INT64),
            Field.of("name", DataType.STRING),
            Field.of("at", DataType.timestamp(9)));
    return List.of(
        DataType.list(DataType.INT32),
        DataType.list(DataType.STRING),
        DataType.list(DataType.list(DataType.INT16)),
        struct,
        DataType.list(struct),
        DataType.struct(
            Field.of("tags", DataType.list(DataType.STRING)), Field.of("inner", struct)));
  }

  /** All of the above and dictionaries of strings and of numbers. */
  public static List<DataType> all() {
    return Stream.of(
            flat(),
            nested(),
            List.of(DataType.dictionary(DataType.STRING), DataType.dictionary(DataType.INT64)))
        .flatMap(List::stream)
        .toList();
  }

  /** A schema with one nullable column per type: {@code c0}, {@code c1} and so on. */
  public static Schema schema(List<DataType> types) {
    return new Schema(
        IntStream.range(0, types.size()).mapToObj(i -> Field.of("c" + i, types.get(i))).toList());
  }
}
