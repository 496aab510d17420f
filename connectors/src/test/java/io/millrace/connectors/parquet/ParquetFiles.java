// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.parquet.format.RowGroup;

/** Writes tables to Parquet files, as the sink does. */
final class ParquetFiles {
  private ParquetFiles() {}

  /** A file of one row group of all tables. */
  static byte[] encode(
      DeviceExtension device, Schema schema, ParquetWriterOptions options, List<Table> tables)
      throws IOException {
    RowGroupWriter writer = new RowGroupWriter(schema, options);
    for (Table table : tables) {
      try (Table host = device.copyToHost(table);
          AccessScope scope = AccessScope.on(device.hostStream())) {
        writer.add(host, scope);
      }
    }
    return writer.finish();
  }

  /** As {@link #encode}, of rows. */
  static byte[] encodeRows(
      DeviceExtension device, Schema schema, ParquetWriterOptions options, List<List<Object>> rows)
      throws IOException {
    try (Table table = TableBuilder.ofRows(schema, rows).build(device)) {
      return encode(device, schema, options, List.of(table));
    }
  }

  /** Joins files in memory to a file with a row group for each. */
  static void write(Path path, List<byte[]> rowGroups) throws IOException {
    Files.deleteIfExists(path);
    org.apache.flink.core.fs.Path target = new org.apache.flink.core.fs.Path(path.toUri());
    try (FSDataOutputStream out = target.getFileSystem().create(target, WriteMode.NO_OVERWRITE)) {
      ParquetFileSink.Writer writer = new ParquetFileSink.Writer(out);
      for (byte[] rowGroup : rowGroups) {
        writer.addElement(rowGroup);
      }
      writer.finish();
    }
  }

  /** The row groups of a file. */
  static List<RowGroup> rowGroups(Path file) throws IOException {
    return ParquetFooter.read(file.toString(), Files.readAllBytes(file)).getRow_groups();
  }

  /**
   * The rows of a file in memory that has one row group. Decoded by the library for pages, and by
   * the device; fails if these differ.
   */
  static List<List<Object>> decode(DeviceExtension device, Schema schema, byte[] file)
      throws IOException {
    List<List<Object>> rows = decodeByLibrary(device, schema, file);
    assertThat(decodeByDevice(device, schema, file)).isEqualTo(rows);
    return rows;
  }

  /** As {@link #decode}, by the library alone. */
  static List<List<Object>> decodeByLibrary(DeviceExtension device, Schema schema, byte[] file)
      throws IOException {
    RowGroupDecoder decoder = new RowGroupDecoder(schema, file);
    List<Integer> all = IntStream.range(0, schema.size()).boxed().toList();
    try (Table table =
        decoder.decodeByLibrary(schema, all, device.hostStream(), device.hostMemory())) {
      return device.rows(table);
    }
  }

  /** As {@link #decode}, by the device wherever it can. */
  static List<List<Object>> decodeByDevice(DeviceExtension device, Schema schema, byte[] file)
      throws IOException {
    RowGroupDecoder decoder = new RowGroupDecoder(schema, file);
    try (Table table =
        decoder.decode(
            device.hostStream(), device.hostMemory(), device.stream(), device.memory())) {
      return device.rows(table);
    }
  }

  /** The value, with times of TIMESTAMP(9) moved to those that have 64-bit nanoseconds. */
  static Object inRange(Object value, DataType type) {
    if (value == null) {
      return null;
    }
    return switch (type.id()) {
      case TIMESTAMP_NANOS ->
          value instanceof Instant instant
              ? near(instant)
              : LocalDateTime.ofInstant(
                  near(((LocalDateTime) value).toInstant(ZoneOffset.UTC)), ZoneOffset.UTC);
      case LIST -> {
        List<Object> elements = new ArrayList<>();
        ((List<?>) value).forEach(x -> elements.add(inRange(x, type.fields().get(0).type())));
        yield elements;
      }
      case STRUCT -> inRange((List<?>) value, new Schema(type.fields()));
      default -> value;
    };
  }

  static List<Object> inRange(List<?> row, Schema schema) {
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < schema.size(); i++) {
      values.add(inRange(row.get(i), schema.type(i)));
    }
    return values;
  }

  private static Instant near(Instant instant) {
    return Instant.ofEpochSecond(instant.getEpochSecond() % 9_000_000_000L, instant.getNano());
  }
}
