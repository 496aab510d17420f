// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.operators.aggregate.Aggregate.count;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RowCollector;
import io.millrace.operators.window.Session;
import io.millrace.operators.window.Tumble;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NothingHeldExtension.class)
class LateRowTimesTest {
  private static final Duration WINDOW = Duration.ofSeconds(10);

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static long id(Row row) {
    return row.<Long>getFieldAs(0);
  }

  /** In a batch with a row that is not late. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void lateRowsKeepTheirTimes(boolean isSession) throws Exception {
    Schema schema =
        Schema.of(Field.of("id", DataType.INT64), Field.of("at", DataType.timestamp(3)));
    DataStream<Row> rows =
        flink
            .environment(1)
            .fromData(
                ExternalRowDecoder.typeInformation(schema),
                Row.of(1L, atSecond(1)),
                Row.of(2L, atSecond(45)),
                Row.of(3L, atSecond(2)),
                Row.of(4L, atSecond(46)))
            .assignTimestampsAndWatermarks(
                WatermarkStrategy.<Row>forGenerator(context -> new BehindTheSecondRow())
                    .withTimestampAssigner((row, time) -> millis(row)));
    WindowedColumnStream windows =
        ColumnStream.from(rows, schema)
            .batch()
            .keyBy("id")
            .window(isSession ? Session.over("at", WINDOW) : Tumble.over("at", WINDOW))
            .sideOutputLateRows();
    RowCollector<String> late = new RowCollector<>();
    late.collect(
        windows
            .aggregate(count().as("n"))
            .lateRows()
            .toRows()
            .process(new EventTimeTest.Times<>(LateRowTimesTest::id))
            .returns(Types.STRING),
        text -> text);
    flink.run(rows.getExecutionEnvironment());
    assertThat(late.rows()).containsExactly("3@2000");
  }

  private static LocalDateTime atSecond(long second) {
    return LocalDateTime.ofEpochSecond(second, 0, ZoneOffset.UTC);
  }

  private static long millis(Row row) {
    return row.<LocalDateTime>getFieldAs(1).toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  private static final class BehindTheSecondRow implements WatermarkGenerator<Row> {
    @Override
    public void onEvent(Row row, long time, WatermarkOutput output) {
      if (id(row) == 2) {
        output.emitWatermark(new Watermark(time));
      }
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
  }
}
