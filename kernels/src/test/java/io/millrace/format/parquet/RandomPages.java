// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.format.parquet.PageWriter.Written;
import io.millrace.memory.MemoryResource;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;

/** Pages of random values, and the values as rows of tables have them. */
final class RandomPages {
  /** The columns that pages are decoded to: each type of pages with each type of columns. */
  static final List<FlatColumn> COLUMNS = columns();

  /** The page values of a column; {@code dictionary} is null if they have none. */
  record Chunk(FlatColumn column, List<?> dictionary, List<Written> pages) {
    int bytesOfDictionary() {
      return dictionary == null ? 0 : PageWriter.plain(column.type(), dictionary).length;
    }
  }

  private final Random random;
  private final PageWriter writer;

  RandomPages(Random random) {
    this.random = random;
    this.writer = new PageWriter(random);
  }

  private static List<FlatColumn> columns() {
    List<FlatColumn> columns = new ArrayList<>();
    add(columns, PhysicalType.BOOLEAN, DataType.BOOL);
    add(
        columns,
        PhysicalType.INT32,
        DataType.INT8,
        DataType.INT16,
        DataType.INT32,
        DataType.FLOAT32,
        DataType.DATE,
        DataType.TIME,
        DataType.decimal(9, 2),
        DataType.decimal(18, 2),
        DataType.decimal(38, 2));
    columns.add(
        new FlatColumn(Field.of("unsigned", DataType.INT64), PhysicalType.INT32, true, true));
    add(
        columns,
        PhysicalType.INT64,
        DataType.INT64,
        DataType.FLOAT64,
        DataType.decimal(9, 3),
        DataType.decimal(18, 3),
        DataType.decimal(38, 3),
        DataType.timestamp(3),
        DataType.timestamp(6, true),
        DataType.timestamp(9),
        DataType.timestamp(9, true));
    add(columns, PhysicalType.BYTE_ARRAY, DataType.STRING, DataType.BINARY);
    return columns;
  }

  private static void add(List<FlatColumn> columns, PhysicalType type, DataType... types) {
    for (DataType of : types) {
      String name = type + " as " + of;
      columns.add(new FlatColumn(Field.of(name, of), type, false, true));
      Field required = new Field(name + ", required", of, false);
      columns.add(new FlatColumn(required, type, false, false));
    }
  }

  static Schema schema(List<FlatColumn> columns) {
    return new Schema(columns.stream().map(FlatColumn::field).toList());
  }

  /** A random value as pages hold it; booleans and bytes as rows have them. */
  Object value(FlatColumn column) {
    return switch (column.field().type().id()) {
      case BOOL -> random.nextBoolean();
      case INT8 -> (int) (byte) random.nextInt();
      case INT16 -> (int) (short) random.nextInt();
      case DATE -> random.nextInt(200_000) - 100_000;
      case TIME -> random.nextInt(86_400_000);
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          column.type() == PhysicalType.INT32
              ? (Number) (random.nextInt(1_999_999_999) - 999_999_999)
              : (Number) (long) (random.nextInt(1_999_999_999) - 999_999_999);
      case FLOAT32 -> Float.floatToRawIntBits((float) random.nextGaussian());
      case FLOAT64 -> Double.doubleToRawLongBits(random.nextGaussian());
      case TIMESTAMP_MILLIS -> random.nextLong() / 1_000_000_000;
      case TIMESTAMP_MICROS -> random.nextLong() / 1_000_000;
      case STRING -> "ä".repeat(random.nextInt(4)) + random.nextInt(100_000);
      case BINARY -> ByteBuffer.wrap(bytes());
      default ->
          column.type() == PhysicalType.INT32
              ? (Number) random.nextInt()
              : (Number) random.nextLong();
    };
  }

  private byte[] bytes() {
    byte[] bytes = new byte[random.nextInt(random.nextInt(20) == 0 ? 200 : 12)];
    random.nextBytes(bytes);
    return bytes;
  }

  /** What rows of tables have for a value of pages. */
  static Object rowValue(FlatColumn column, Object value) {
    if (!(value instanceof Number number)) {
      return value;
    }
    DataType type = column.field().type();
    long bits = number.longValue();
    return switch (type.id()) {
      case INT8 -> (byte) bits;
      case INT16 -> (short) bits;
      case INT32 -> (int) bits;
      case INT64 -> column.isUnsigned() ? Integer.toUnsignedLong((int) bits) : bits;
      case FLOAT32 -> Float.intBitsToFloat((int) bits);
      case FLOAT64 -> Double.longBitsToDouble(bits);
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          new BigDecimal(BigInteger.valueOf(bits), type.scale());
      case DATE -> LocalDate.ofEpochDay(bits);
      case TIME -> LocalTime.ofNanoOfDay(bits * 1_000_000);
      case TIMESTAMP_MILLIS -> time(bits, 1_000, type);
      case TIMESTAMP_MICROS -> time(bits, 1_000_000, type);
      case TIMESTAMP_NANOS -> time(bits, 1_000_000_000, type);
      default -> throw new IllegalArgumentException(type.toString());
    };
  }

  private static Object time(long bits, long perSecond, DataType type) {
    Instant instant =
        Instant.ofEpochSecond(
            Math.floorDiv(bits, perSecond),
            Math.floorMod(bits, perSecond) * (1_000_000_000 / perSecond));
    return type.withTimeZone() ? instant : LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
  }

  /**
   * A chunk of random values in pages of random sizes.
   *
   * @param rows one list for each row, to which the value of the row is added
   * @param dictionarySize of the dictionary; 0 for pages without one
   */
  Chunk chunk(
      FlatColumn column,
      List<List<Object>> rows,
      double nullProbability,
      int dictionarySize,
      int maxPageRows) {
    List<Object> dictionary = null;
    if (dictionarySize > 0 && column.type() != PhysicalType.BOOLEAN) {
      dictionary = new ArrayList<>();
      while (dictionary.size() < dictionarySize) {
        dictionary.add(value(column));
      }
    }
    List<Written> pages = new ArrayList<>();
    for (int row = 0; row < rows.size() || pages.isEmpty(); ) {
      int size = Math.min(rows.size() - row, random.nextInt(maxPageRows + 1));
      List<Object> values = new ArrayList<>();
      // Some pages have no nulls, or nothing else.
      double nulls = random.nextInt(3) == 0 ? random.nextInt(2) : nullProbability;
      double repeats = random.nextDouble();
      boolean isPlain = dictionary == null || random.nextInt(5) == 0;
      for (int i = 0; i < size; i++, row++) {
        Object value =
            column.isOptional() && random.nextDouble() < nulls
                ? null
                : i > 0 && values.get(i - 1) != null && random.nextDouble() < repeats
                    ? values.get(i - 1)
                    : isPlain ? value(column) : dictionary.get(random.nextInt(dictionary.size()));
        values.add(value);
        rows.get(row).add(value == null ? null : rowValue(column, value));
      }
      boolean isRle = column.type() == PhysicalType.BOOLEAN && random.nextBoolean();
      pages.add(
          writer.page(
              column,
              values,
              random.nextBoolean(),
              isRle,
              isPlain ? null : codes(values, dictionary),
              isPlain ? 0 : PageWriter.bitWidth(dictionarySize) + random.nextInt(3)));
    }
    return new Chunk(column, dictionary, pages);
  }

  private static int[] codes(List<?> values, List<?> dictionary) {
    return values.stream().filter(Objects::nonNull).mapToInt(dictionary::indexOf).toArray();
  }

  /** Adds the pages of a chunk to a row group. */
  static void add(Chunk chunk, RowGroupPages rowGroup) throws IOException {
    ColumnPages target = rowGroup.add(chunk.column());
    if (chunk.dictionary() != null) {
      target.addDictionary(
          PageWriter.plain(chunk.column().type(), chunk.dictionary()), chunk.dictionary().size());
    }
    for (Written page : chunk.pages()) {
      target.add(page.header(), page.page());
    }
  }

  /** The table of chunks, which the caller closes. */
  static Table decode(DeviceExtension device, int rows, List<Chunk> chunks) throws IOException {
    return decode(device, rows, chunks, device.hostMemory(), device.memory());
  }

  /** As {@link #decode(DeviceExtension, int, List)}, in other memory. */
  static Table decode(
      DeviceExtension device,
      int rows,
      List<Chunk> chunks,
      MemoryResource hostMemory,
      MemoryResource memory)
      throws IOException {
    int pages = 0;
    long bytes = 0;
    for (Chunk chunk : chunks) {
      pages += chunk.pages().size() + 1;
      bytes += chunk.bytesOfDictionary();
      bytes += chunk.pages().stream().mapToLong(page -> page.page().length).sum();
    }
    try (RowGroupPages rowGroup =
        new RowGroupPages(rows, pages, bytes, device.hostStream(), hostMemory)) {
      for (Chunk chunk : chunks) {
        add(chunk, rowGroup);
      }
      List<Column> columns = PageDecoder.decode(rowGroup, device.stream(), memory);
      Schema schema = schema(chunks.stream().map(Chunk::column).toList());
      return Table.of(schema, rows, columns::get);
    }
  }
}
