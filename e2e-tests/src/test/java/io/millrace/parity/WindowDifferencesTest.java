// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.operators.aggregate.Aggregate.count;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.window.Tumble;
import io.millrace.parity.WindowAggregateParityTest.WatermarkOfRow;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/**
 * Windows of a TIMESTAMP_LTZ that are not Flink's on purpose. Flink's window functions add rows to
 * state, and so set the timers of their windows, at watermarks that they expect to end a window.
 * Where they expect a wrong watermark, the window has passed when its rows are added, and its rows
 * are lost. Flink's group windows add each row at once.
 */
class WindowDifferencesTest {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("k", DataType.INT32, false),
          Field.of("ts", DataType.timestamp(3, true)),
          Field.of("w", DataType.INT64));

  private static Row row(int key, String time, String watermark) {
    return Row.of(key, Instant.parse(time), Instant.parse(watermark).toEpochMilli());
  }

  private static DataStream<Row> stream(StreamExecutionEnvironment environment, Row... rows) {
    return environment
        .fromData(ExternalRowDecoder.typeInformation(SCHEMA), rows)
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<Row>forGenerator(context -> new WatermarkOfRow(2))
                .withTimestampAssigner((row, before) -> RandomWindowQuery.millis(row.getField(1))));
  }

  private static StreamExecutionEnvironment environment() {
    return StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(1);
  }

  private static List<String> flink(String sql, String zone, Row... rows) throws Exception {
    StreamExecutionEnvironment environment = environment();
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.getConfig().setLocalTimeZone(ZoneId.of(zone));
    tables.createTemporaryView(
        "t",
        tables.fromDataStream(
            stream(environment, rows),
            org.apache.flink.table.api.Schema.newBuilder()
                .column("k", "INT NOT NULL")
                .column("ts", "TIMESTAMP_LTZ(3)")
                .column("w", "BIGINT")
                .watermark("ts", "SOURCE_WATERMARK()")
                .build()));
    CollectedRows collected = CollectedRows.of(tables.toDataStream(tables.sqlQuery(sql)));
    environment.execute();
    return collected.take().stream().map(Row::toString).toList();
  }

  private static List<String> windowFunction(String size, String zone, Row... rows)
      throws Exception {
    return flink(
        "SELECT k, COUNT(*), window_start FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), "
            + size
            + ")) GROUP BY k, window_start, window_end",
        zone,
        rows);
  }

  private static List<String> groupWindow(String size, String zone, Row... rows) throws Exception {
    String window = "(ts, " + size + ")";
    return flink(
        "SELECT k, COUNT(*), TUMBLE_START" + window + " FROM t GROUP BY k, TUMBLE" + window,
        zone,
        rows);
  }

  private static List<String> millrace(Duration size, String zone, Row... rows) throws Exception {
    StreamExecutionEnvironment environment = environment();
    CollectedRows collected =
        CollectedRows.of(
            ColumnStream.from(stream(environment, rows), SCHEMA)
                .batch(BatchOptions.DEFAULT)
                .withTimeZone(ZoneId.of(zone))
                .keyBy("k")
                .window(Tumble.over("ts", size))
                .aggregate(count().as("n"))
                .toRows());
    environment.execute();
    return collected.take().stream()
        .map(row -> Row.project(row, new int[] {0, 1, 2}).toString())
        .toList();
  }

  /** Flink expects the ends of windows in UTC if the zone has no summer time. */
  @Test
  void windowFunctionsOfFlinkLoseRowsIfTheSizeDoesNotDivideTheZonesOffset() throws Exception {
    Row[] rows = {
      row(1, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
      row(2, "1970-01-01T01:00:00Z", "1970-01-01T05:59:59.999Z"),
      row(3, "1970-01-01T08:00:00Z", "1970-01-01T07:00:00Z")
    };
    List<String> all =
        List.of(
            "+I[1, 1, 1970-01-01T07:00]",
            "+I[2, 1, 1970-01-01T07:00]",
            "+I[3, 1, 1970-01-01T14:00]");
    String size = "INTERVAL '7' HOUR";
    String zone = "Asia/Shanghai";

    assertThat(windowFunction(size, zone, rows)).containsExactlyInAnyOrder(all.get(2));

    assertThat(groupWindow(size, zone, rows)).containsExactlyInAnyOrderElementsOf(all);
    assertThat(millrace(Duration.ofHours(7), zone, rows)).containsExactlyElementsOf(all);
  }

  /** The clock goes back at 6:00 UTC: windows from 1:00 to 2:00 end by the second hour. */
  @Test
  void windowFunctionsOfFlinkLoseRowsInAnHourThatComesTwice() throws Exception {
    Row[] rows = {
      row(1, "2024-11-03T05:50:00Z", "2024-11-03T05:51:00Z"),
      row(2, "2024-11-03T06:05:00Z", "2024-11-03T06:10:00Z"),
      row(3, "2024-11-03T07:05:00Z", "2024-11-03T07:10:00Z")
    };
    List<String> all =
        List.of(
            "+I[2, 1, 2024-11-03T01:00]",
            "+I[1, 1, 2024-11-03T01:50]",
            "+I[3, 1, 2024-11-03T02:00]");
    String size = "INTERVAL '10' MINUTE";
    String zone = "America/New_York";

    assertThat(windowFunction(size, zone, rows)).containsExactlyInAnyOrder(all.get(1), all.get(2));

    assertThat(groupWindow(size, zone, rows)).containsExactlyInAnyOrderElementsOf(all);
    assertThat(millrace(Duration.ofMinutes(10), zone, rows)).containsExactlyElementsOf(all);
  }
}
