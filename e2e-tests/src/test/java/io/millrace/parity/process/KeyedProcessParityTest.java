// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.parity.CollectedRows;
import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The function of docs/keyed-process.md gives what a {@code KeyedProcessFunction} of Flink gives:
 * with values, timers and watermarks, for random rows that are out of order.
 */
class KeyedProcessParityTest {
  private static final Path PAGE = Path.of("../docs/keyed-process.md");
  private static final Path FUNCTION =
      Path.of("src/test/java/io/millrace/parity/process/BurstAlerts.java");
  private static final Path THIS =
      Path.of("src/test/java/io/millrace/parity/process/KeyedProcessParityTest.java");
  private static final int ROWS = 5_000;
  private static final Schema BIDS =
      Schema.of(
          new Field("bidder", DataType.INT64, false),
          new Field("ts", DataType.timestamp(3), false));

  @RegisterExtension final RandomExtension seed = new RandomExtension();

  /** A watermark behind some rows, some seconds before the last of them. */
  static final class Delayed implements WatermarkGenerator<Row> {
    private final int rowsPerWatermark;
    private int rows;

    Delayed(int rowsPerWatermark) {
      this.rowsPerWatermark = rowsPerWatermark;
    }

    @Override
    public void onEvent(Row row, long timestamp, WatermarkOutput output) {
      rows++;
      if (rows % rowsPerWatermark == 0) {
        output.emitWatermark(new Watermark(timestamp - 5_000));
      }
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
  }

  private List<Row> bids(int bidders) {
    Random random = seed.random();
    List<Row> bids = new ArrayList<>();
    long now = 1_000_000;
    for (int i = 0; i < ROWS; i++) {
      now += random.nextInt(2_000);
      long time = now - random.nextInt(10) * 1_000L;
      bids.add(Row.of((long) random.nextInt(bidders), FlinkBurstAlerts.time(time)));
    }
    return bids;
  }

  private static DataStream<Row> stream(
      StreamExecutionEnvironment environment, List<Row> bids, int rowsPerWatermark) {
    return environment
        .fromData(bids, ExternalRowDecoder.typeInformation(BIDS))
        .setParallelism(1)
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<Row>forGenerator(context -> new Delayed(rowsPerWatermark))
                .withTimestampAssigner((row, before) -> FlinkBurstAlerts.millis(row.getFieldAs(1))))
        .setParallelism(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 20, 2_000})
  void theExampleGivesWhatAFunctionOfFlinkGives(int bidders) throws Exception {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(2);
    List<Row> rows = bids(bidders);
    int rowsPerWatermark = 1 + seed.random().nextInt(100);
    DataStream<Row> input = stream(environment, rows, rowsPerWatermark);
    ColumnStream bids = ColumnStream.from(input, BIDS).batch().setParallelism(1);

    ColumnStream alerts = bids.keyBy("bidder").process(new BurstAlerts()).uid("alerts");

    assertThat(alerts.explain()).contains("Process(function=[BurstAlerts], key=[bidder]");
    CollectedRows collected = CollectedRows.of(alerts.toRows());
    TypeInformation<Row> type = Types.ROW(Types.LONG, Types.LOCAL_DATE_TIME, Types.STRING);
    CollectedRows flinks =
        CollectedRows.of(
            input
                .keyBy(row -> row.<Long>getFieldAs(0), Types.LONG)
                .process(new FlinkBurstAlerts())
                .returns(type));
    environment.execute();
    List<String> expected = texts(flinks);
    assertThat(texts(collected)).isEqualTo(expected);
    assertThat(expected).anyMatch(text -> text.contains("gone"));
    if (bidders < 2_000) {
      assertThat(expected).anyMatch(text -> text.contains("burst"));
    }
  }

  private static List<String> texts(CollectedRows rows) throws Exception {
    return rows.take().stream().map(Row::toString).sorted().toList();
  }

  @Test
  void theExampleIsTheTextOfTheTest() throws IOException {
    assumeTrue(Files.exists(PAGE), "only where the sources are");
    String code = normalized(Files.readString(FUNCTION) + Files.readString(THIS));
    List<String> examples = examples(Files.readString(PAGE));
    assertThat(examples.subList(0, 2)).allMatch(code::contains);
  }

  /** The Java code of a page. */
  static List<String> examples(String page) {
    return Pattern.compile("(?s)```java\n(.*?)```")
        .matcher(page)
        .results()
        .map(example -> normalized(example.group(1)))
        .toList();
  }

  /** The lines without their indentation. */
  static String normalized(String code) {
    return code.lines().map(String::strip).collect(Collectors.joining("\n"));
  }
}
