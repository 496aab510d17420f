// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Rows of three BIGINT, a STRING of 20 bytes, a TIMESTAMP(3) and a DECIMAL(10, 2) to columns and
 * back, one batch an invocation. The generic paths are the yardstick: getters on the way in, a
 * GenericRowData and Flink's serializer on the way out.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
public class RowConversionBenchmark {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("a", DataType.INT64),
          Field.of("b", DataType.INT64),
          Field.of("c", DataType.INT64),
          Field.of("name", DataType.STRING),
          Field.of("at", DataType.timestamp(3)),
          Field.of("price", DataType.decimal(10, 2)));

  @Param("4096")
  int rows;

  private final DeviceStream stream = HostDevice.INSTANCE.createStream();
  private final RowDataSerializer serializer =
      new RowDataSerializer(SchemaConverter.toRowType(SCHEMA));
  private final List<RowData> genericRows = new ArrayList<>();
  private final List<RowData> binaryRows = new ArrayList<>();
  private RowTableBuilder builder;
  private RowDataAppender appender;
  private GetterRowAppender getters;
  private Table table;

  /** Makes the rows, in both forms, and their table. */
  @Setup
  public void prepare() {
    builder = new RowTableBuilder(SCHEMA, stream, HostMemoryResource.INSTANCE);
    appender = new RowDataAppender(builder);
    getters =
        GetterRowAppenderCompiler.compile(
            SCHEMA.fields(), SCHEMA.size(), LeafPath.fields(SCHEMA.size()), builder.columns());
    for (int i = 0; i < rows; i++) {
      RowData row =
          GenericRowData.of(
              (long) i,
              i * 31L,
              -1L - i,
              StringData.fromString(String.format("name-%015d", i)),
              TimestampData.fromEpochMillis(1_700_000_000_000L + i),
              DecimalData.fromUnscaledLong(i, 10, 2));
      genericRows.add(row);
      binaryRows.add(serializer.toBinaryRow(row).copy());
      appender.append(row);
    }
    table = builder.finish(rows);
  }

  /** Frees the table. */
  @TearDown
  public void close() {
    table.close();
    builder.close();
  }

  /** GenericRowData to columns, through getters. */
  @Benchmark
  public void genericRowsToColumns() {
    for (int i = 0; i < rows; i++) {
      appender.append(genericRows.get(i));
    }
    builder.finish(rows).close();
  }

  /** BinaryRowData to columns, through getters. */
  @Benchmark
  public void binaryRowsToColumnsByGetters() {
    for (int i = 0; i < rows; i++) {
      getters.append(binaryRows.get(i));
    }
    builder.finish(rows).close();
  }

  /** BinaryRowData to columns, from its memory. */
  @Benchmark
  public void binaryRowsToColumns() {
    for (int i = 0; i < rows; i++) {
      appender.append(binaryRows.get(i));
    }
    builder.finish(rows).close();
  }

  /** Columns to BinaryRowData, written directly. */
  @Benchmark
  public void columnsToBinaryRows(Blackhole blackhole) {
    try (AccessScope scope = AccessScope.on(stream)) {
      RowDataDecoder decoder = new RowDataDecoder(table, scope);
      for (int i = 0; i < rows; i++) {
        blackhole.consume(decoder.decode(i).getSizeInBytes());
      }
    }
  }

  /** Columns to GenericRowData, and that to BinaryRowData by Flink's serializer. */
  @Benchmark
  public void columnsToBinaryRowsBySerializer(Blackhole blackhole) {
    try (AccessScope scope = AccessScope.on(stream)) {
      List<ColumnReader> columns =
          table.columns().stream().map(column -> new ColumnReader(column, scope)).toList();
      for (int i = 0; i < rows; i++) {
        RowData row =
            GenericRowData.of(
                columns.get(0).getLong(i),
                columns.get(1).getLong(i),
                columns.get(2).getLong(i),
                StringData.fromBytes(columns.get(3).getBytes(i)),
                TimestampData.fromEpochMillis(columns.get(4).getLong(i)),
                DecimalData.fromUnscaledLong(columns.get(5).getLong(i), 10, 2));
        blackhole.consume(serializer.toBinaryRow(row).getSizeInBytes());
      }
    }
  }
}
