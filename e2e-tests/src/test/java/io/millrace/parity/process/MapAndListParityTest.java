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
 * The function of docs/keyed-process.md with a map and a list gives what a {@code
 * KeyedProcessFunction} of Flink gives, for random rows that are out of order.
 */
class MapAndListParityTest {
  private static final Path PAGE = Path.of("../docs/keyed-process.md");
  private static final Path FUNCTION =
      Path.of("src/test/java/io/millrace/parity/process/AuctionsOfBidders.java");
  private static final int ROWS = 5_000;
  private static final Schema BIDS =
      Schema.of(
          new Field("bidder", DataType.INT64, false),
          new Field("auction", DataType.INT64, false),
          new Field("ts", DataType.timestamp(3), false));

  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private List<Row> bids(int bidders) {
    Random random = seed.random();
    List<Row> bids = new ArrayList<>();
    long now = 1_000_000;
    for (int i = 0; i < ROWS; i++) {
      now += random.nextInt(2_000);
      long time = now - random.nextInt(10) * 1_000L;
      bids.add(
          Row.of(
              (long) random.nextInt(bidders),
              (long) random.nextInt(6),
              FlinkBurstAlerts.time(time)));
    }
    return bids;
  }

  private DataStream<Row> stream(StreamExecutionEnvironment environment, List<Row> bids) {
    int rowsPerWatermark = 1 + seed.random().nextInt(100);
    return environment
        .fromData(bids, ExternalRowDecoder.typeInformation(BIDS))
        .setParallelism(1)
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<Row>forGenerator(
                    context -> new KeyedProcessParityTest.Delayed(rowsPerWatermark))
                .withTimestampAssigner((row, before) -> FlinkBurstAlerts.millis(row.getFieldAs(2))))
        .setParallelism(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 30, 2_000})
  void theExampleGivesWhatAFunctionOfFlinkGives(int bidders) throws Exception {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(2);
    DataStream<Row> input = stream(environment, bids(bidders));
    ColumnStream bids = ColumnStream.from(input, BIDS).batch().setParallelism(1);

    ColumnStream auctions = bids.keyBy("bidder").process(new AuctionsOfBidders()).uid("auctions");

    assertThat(auctions.explain())
        .contains(
            "Process(function=[AuctionsOfBidders], key=[bidder], state=[last BIGINT],"
                + " maps=[bids], lists=[order])");
    CollectedRows collected = CollectedRows.of(auctions.toRows());
    TypeInformation<Row> type = Types.ROW(Types.LONG, Types.STRING);
    CollectedRows flinks =
        CollectedRows.of(
            input
                .keyBy(row -> row.<Long>getFieldAs(0), Types.LONG)
                .process(new FlinkAuctionsOfBidders())
                .returns(type));
    environment.execute();
    List<String> expected = texts(flinks);
    assertThat(texts(collected)).isEqualTo(expected);
    assertThat(expected).anyMatch(text -> text.contains("auctions, of "));
    if (bidders < 2_000) {
      assertThat(expected).anyMatch(text -> text.contains("three bids for "));
    }
  }

  private static List<String> texts(CollectedRows rows) throws Exception {
    return rows.take().stream().map(Row::toString).sorted().toList();
  }

  @Test
  void theExampleIsTheTextOfTheTest() throws IOException {
    assumeTrue(Files.exists(PAGE), "only where the sources are");
    String code = KeyedProcessParityTest.normalized(Files.readString(FUNCTION));
    List<String> examples = KeyedProcessParityTest.examples(Files.readString(PAGE));
    assertThat(examples).filteredOn(code::contains).isNotEmpty();
  }
}
