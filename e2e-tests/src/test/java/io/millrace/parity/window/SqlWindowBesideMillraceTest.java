// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.window;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.row.ExternalRowDecoder;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** A window of Flink SQL has the managed memory it needs in a slot that it shares with Millrace. */
class SqlWindowBesideMillraceTest {
  private static final Schema SCHEMA =
      Schema.of(Field.of("key", DataType.INT64), Field.of("ts", DataType.timestamp(3)));
  private static final int ROWS = 10_000;
  private static final int SECONDS_OF_WINDOW = 60;

  private static StreamExecutionEnvironment environment() {
    Configuration configuration = new Configuration();
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(64));
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    environment.setParallelism(1);
    return environment;
  }

  private static Row row(long number) {
    return Row.of(number % 10, LocalDateTime.ofEpochSecond(number, 0, ZoneOffset.UTC));
  }

  private static DataStream<Row> throughMillrace(StreamExecutionEnvironment environment) {
    DataStream<Row> rows =
        environment
            .fromSequence(0, ROWS - 1)
            .map(SqlWindowBesideMillraceTest::row)
            .returns(ExternalRowDecoder.typeInformation(SCHEMA));
    return ColumnStream.from(rows, SCHEMA).batch().filter(col("key").ge(0)).keyBy("key").toRows();
  }

  @Test
  void aTumblingWindowCountsAllRows() throws Exception {
    StreamExecutionEnvironment environment = environment();
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    Table rows =
        tables.fromDataStream(
            throughMillrace(environment),
            org.apache.flink.table.api.Schema.newBuilder()
                .column("key", "BIGINT")
                .column("ts", "TIMESTAMP(3)")
                .watermark("ts", "ts")
                .build());
    tables.createTemporaryView("bids", rows);
    Table windows =
        tables.sqlQuery(
            "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts),"
                + " INTERVAL '"
                + SECONDS_OF_WINDOW
                + "' SECOND)) GROUP BY window_start, window_end");
    int count = (ROWS + SECONDS_OF_WINDOW - 1) / SECONDS_OF_WINDOW;
    List<Row> counts = tables.toDataStream(windows).executeAndCollect(count + 1);
    assertThat(counts).hasSize(count);
    assertThat(counts.stream().mapToLong(row -> row.getFieldAs("n")).sum()).isEqualTo(ROWS);
  }
}
