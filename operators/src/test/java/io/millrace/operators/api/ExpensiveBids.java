// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.decimal;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.types.Row;

/** Adds up the expensive bids of each auction in windows of ten seconds. */
public final class ExpensiveBids {
  private ExpensiveBids() {}

  public static void main(String[] arguments) throws Exception {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    Schema schema =
        Schema.of(
            new Field("auction", DataType.INT64, false),
            Field.of("price", DataType.INT32),
            Field.of("time", DataType.timestamp(3, true)));
    DataStream<Row> bids =
        environment
            .fromData(
                Row.of(1L, 500, Instant.ofEpochSecond(1)),
                Row.of(1L, 2_000, Instant.ofEpochSecond(8)),
                Row.of(2L, 1_500, Instant.ofEpochSecond(9)),
                Row.of(1L, 3_000, Instant.ofEpochSecond(11)))
            .returns(ExternalRowDecoder.typeInformation(schema))
            .assignTimestampsAndWatermarks(
                WatermarkStrategy.<Row>forMonotonousTimestamps()
                    .withTimestampAssigner(
                        (bid, recordTime) -> bid.<Instant>getFieldAs(2).toEpochMilli()));
    DataStream<Row> expensive =
        ColumnStream.from(bids, schema)
            .batch(BatchOptions.latency(Duration.ofMillis(20)))
            .filter(col("price").gt(1_000))
            .select(col("auction"), col("price").times(decimal("0.908")).as("eur"))
            .toRows();
    expensive
        .keyBy(bid -> bid.<Long>getFieldAs("auction"))
        .window(TumblingEventTimeWindows.of(Duration.ofSeconds(10)))
        .reduce(
            (sum, bid) ->
                Row.of(sum.getField(0), sum.<BigDecimal>getFieldAs(1).add(bid.getFieldAs(1))))
        .print();
    environment.execute("expensive bids");
  }
}
