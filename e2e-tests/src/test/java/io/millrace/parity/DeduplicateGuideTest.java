// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.operators.deduplicate.Deduplication.keepFirst;
import static io.millrace.operators.deduplicate.Deduplication.keepLast;
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
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** The example of docs/deduplicate.md gives what the query beside it gives. */
class DeduplicateGuideTest {
  private static final Path PAGE = Path.of("../docs/deduplicate.md");
  private static final Path THIS =
      Path.of("src/test/java/io/millrace/parity/DeduplicateGuideTest.java");
  private static final Schema EVENTS =
      Schema.of(
          new Field("order_id", DataType.INT64, false),
          Field.of("customer", DataType.STRING),
          Field.of("price", DataType.INT32));

  private final StreamExecutionEnvironment environment =
      StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(1);
  private final StreamTableEnvironment tables = StreamTableEnvironment.create(environment);

  private DataStream<Row> rows() {
    return environment.fromData(
        ExternalRowDecoder.typeInformation(EVENTS),
        Row.of(1L, "a", 500),
        Row.of(2L, "b", null),
        Row.of(1L, "a", 700),
        Row.of(3L, null, 900),
        Row.of(2L, "c", 30));
  }

  private static String example(String language) throws IOException {
    assumeTrue(Files.exists(PAGE), "only where the sources are");
    Matcher example =
        Pattern.compile("(?s)```" + language + "\n(.*?)\n```").matcher(Files.readString(PAGE));
    assertThat(example.find()).isTrue();
    return example.group(1);
  }

  @Test
  void theExampleGivesWhatTheQueryGives() throws Exception {
    ColumnStream events = ColumnStream.from(rows(), EVENTS).batch();

    DataStream<Row> orders =
        events.keyBy("order_id").deduplicate(keepFirst()).uid("orders").toRows();

    CollectedRows collected = CollectedRows.of(orders);
    tables.createTemporaryView(
        "events",
        tables.fromDataStream(
            rows(),
            org.apache.flink.table.api.Schema.newBuilder()
                .columnByExpression("proctime", "PROCTIME()")
                .build()));
    CollectedRows flinks =
        CollectedRows.of(tables.toChangelogStream(tables.sqlQuery(example("sql"))));
    environment.execute();
    assertThat(collected.take())
        .containsExactlyElementsOf(flinks.take())
        .contains(Row.of(1L, "a", 500))
        .hasSize(3);
  }

  @Test
  void theExampleIsTheTextOfTheTest() throws IOException {
    assertThat(Files.readString(THIS).replaceAll("\\s+", ""))
        .contains(example("java").replaceAll("\\s+", ""));
  }

  @Test
  void lastRowsAreUpsertsOfTheTableApi() throws Exception {
    DataStream<Row> last =
        ColumnStream.from(rows(), EVENTS)
            .batch()
            .keyBy("order_id")
            .deduplicate(keepLast())
            .toRows();
    tables.createTemporaryView(
        "orders",
        tables.fromChangelogStream(
            last,
            org.apache.flink.table.api.Schema.newBuilder()
                .column("order_id", DataTypes.BIGINT().notNull())
                .column("customer", DataTypes.STRING())
                .column("price", DataTypes.INT())
                .primaryKey("order_id")
                .build(),
            ChangelogMode.upsert()));
    CollectedRows sums =
        CollectedRows.of(
            tables.toChangelogStream(
                tables.sqlQuery("SELECT 1 AS k, SUM(price) AS price FROM orders")));
    environment.execute();
    assertThat(new ReplayedChanges(sums.take(), 1).rows())
        .containsEntry(List.of(1), List.of(1, 1_630));
  }
}
