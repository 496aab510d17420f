// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.window;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.row.ExternalRowDecoder;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;

/** Rows with a key, a value, a time and the watermark behind the row; null if there is none. */
final class WatermarkedRows {
  static final Schema SCHEMA =
      Schema.of(
          new Field("k", DataType.INT32, false),
          Field.of("v", DataType.INT32),
          new Field("ts", DataType.timestamp(3), false),
          Field.of("w", DataType.INT64));
  static final TypeInformation<Row> TYPE = ExternalRowDecoder.typeInformation(SCHEMA);

  private WatermarkedRows() {}

  static StreamExecutionEnvironment environment(int parallelism) {
    Configuration configuration = new Configuration();
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(256));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(64));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(64));
    return StreamExecutionEnvironment.getExecutionEnvironment(configuration)
        .setParallelism(parallelism);
  }

  static LocalDateTime timestamp(long millis) {
    return LocalDateTime.ofEpochSecond(
        Math.floorDiv(millis, 1_000), Math.floorMod(millis, 1_000) * 1_000_000, ZoneOffset.UTC);
  }

  private static long millis(Row row) {
    return ((LocalDateTime) row.getField(2)).toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  /** The rows with their times and watermarks, in one subtask. */
  static DataStream<Row> stream(SingleOutputStreamOperator<Row> rows) {
    return rows.assignTimestampsAndWatermarks(
            WatermarkStrategy.<Row>forGenerator(context -> new WatermarkOfRow())
                .withTimestampAssigner((row, before) -> millis(row)))
        .setParallelism(1);
  }

  /** Makes the rows a table {@code t}. */
  static void addTo(StreamTableEnvironment tables, DataStream<Row> rows) {
    tables.createTemporaryView(
        "t",
        tables.fromDataStream(
            rows,
            org.apache.flink.table.api.Schema.newBuilder()
                .column("k", "INT NOT NULL")
                .column("v", "INT")
                .column("ts", "TIMESTAMP(3) NOT NULL")
                .column("w", "BIGINT")
                .watermark("ts", "SOURCE_WATERMARK()")
                .build()));
  }

  private static final class WatermarkOfRow implements WatermarkGenerator<Row> {
    @Override
    public void onEvent(Row row, long timestamp, WatermarkOutput output) {
      if (row.getField(3) instanceof Long watermark) {
        output.emitWatermark(new Watermark(watermark));
      }
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
      // Only rows bring watermarks.
    }
  }
}
