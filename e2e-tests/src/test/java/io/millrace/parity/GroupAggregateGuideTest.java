// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.row.ExternalRowDecoder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** The example of docs/group-aggregate.md gives what the query beside it gives. */
class GroupAggregateGuideTest {
  private static final Path PAGE = Path.of("../docs/group-aggregate.md");
  private static final Path THIS =
      Path.of("src/test/java/io/millrace/parity/GroupAggregateGuideTest.java");
  private static final Schema BIDS =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          Field.of("price", DataType.INT32),
          Field.of("channel", DataType.STRING));

  private final StreamExecutionEnvironment environment =
      StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(1);

  private DataStream<Row> rows() {
    return environment.fromData(
        ExternalRowDecoder.typeInformation(BIDS),
        Row.of(1L, 500, "web"),
        Row.of(2L, null, "web"),
        Row.of(1L, 2_000, null),
        Row.of(1L, 701, "web"),
        Row.of(2L, 30, "app"));
  }

  private static String example(String language) throws IOException {
    assumeTrue(Files.exists(PAGE), "only where the sources are");
    Matcher example =
        Pattern.compile("(?s)```" + language + "\n(.*?)```").matcher(Files.readString(PAGE));
    assertThat(example.find()).isTrue();
    return example.group(1);
  }

  @Test
  void theExampleGivesWhatTheQueryGives() throws Exception {
    ColumnStream bids = ColumnStream.from(rows(), BIDS).batch();

    DataStream<Row> prices =
        bids.keyBy("auction")
            .aggregate(
                count().as("bids"),
                max("price").as("highest"),
                avg(col("price").times(2)).filter(col("channel").eq("web")).as("web"))
            .uid("prices")
            .toRows();

    CollectedRows collected = CollectedRows.of(prices);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.createTemporaryView("bids", tables.fromDataStream(rows()));
    CollectedRows flinks =
        CollectedRows.of(tables.toChangelogStream(tables.sqlQuery(example("sql"))));
    environment.execute();
    assertThat(new ReplayedChanges(collected.take(), 1).rows())
        .isEqualTo(new ReplayedChanges(flinks.take(), 1).rows())
        .containsEntry(List.of(1L), List.of(1L, 3L, 2_000, 1_201));
  }

  @Test
  void theExampleIsTheTextOfTheTest() throws IOException {
    assertThat(normalized(Files.readString(THIS))).contains(normalized(example("java")));
  }

  /** The lines without their indentation. */
  private static String normalized(String code) {
    return code.lines().map(String::strip).collect(Collectors.joining("\n"));
  }
}
