// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.window;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.Device;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.window.Session;
import io.millrace.parity.CollectedRows;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Which late rows a session takes: those that Flink SQL takes, where a batch has one row, so that
 * the order of rows is that of batches.
 */
class LateSessionRowsParityTest {
  private static final int ROWS = 500;
  private static final int MAX_DISORDER = 120;

  @RegisterExtension final RandomExtension random = new RandomExtension();

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void sessionsTakeTheLateRowsThatFlinksTake(int parallelism) throws Exception {
    Random numbers = random.random();
    long gap = 10L + numbers.nextInt(60);
    List<Row> all = rows(numbers);
    StreamExecutionEnvironment environment = WatermarkedRows.environment(parallelism);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    DataStream<Row> rows =
        WatermarkedRows.stream(environment.fromData(all, WatermarkedRows.TYPE).setParallelism(1));
    WatermarkedRows.addTo(tables, rows);
    String session =
        "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '0.%03d' SECOND(6, 3))"
            .formatted(gap);
    CollectedRows flink =
        CollectedRows.of(
            tables.toDataStream(
                tables.sqlQuery(
                    "SELECT k, COUNT(*), SUM(v), MAX(v), window_start, window_end, window_time"
                        + " FROM TABLE("
                        + session
                        + ") GROUP BY k, window_start, window_end, window_time")));
    CollectedRows millrace =
        CollectedRows.of(
            ColumnStream.from(rows, WatermarkedRows.SCHEMA)
                .batch(BatchOptions.DEFAULT)
                .setParallelism(1)
                .keyBy("k")
                .window(Session.over("ts", Duration.ofMillis(gap)))
                .aggregate(count(), sum("v"), max("v"))
                .toRows());
    environment.execute();

    List<Row> results = millrace.take();
    assertThat(texts(results))
        .as("gap %d, seed %d", gap, random.seed())
        .isEqualTo(texts(flink.take()));
    long taken = results.stream().mapToLong(row -> row.getFieldAs(1)).sum();
    assertThat(taken).as("rows that are not late").isBetween(1L, ROWS - 1L);
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
    assertThat(DeviceContext.heldBytes(Device.current())).as("bytes held").isZero();
  }

  private static List<String> texts(List<Row> rows) {
    return rows.stream().map(Row::toString).sorted().toList();
  }

  // A watermark behind each row ends its batch.
  private static List<Row> rows(Random numbers) {
    List<Row> rows = new ArrayList<>();
    long watermark = -MAX_DISORDER;
    for (int i = 0; i < ROWS; i++) {
      long time = 10L * i - numbers.nextInt(MAX_DISORDER);
      watermark = Math.max(watermark + 1, time - numbers.nextInt(MAX_DISORDER / 4));
      rows.add(
          Row.of(
              numbers.nextInt(5),
              numbers.nextInt(4) == 0 ? null : numbers.nextInt(100),
              WatermarkedRows.timestamp(time),
              watermark));
    }
    return rows;
  }
}
