// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.services.KafkaTopic;
import io.millrace.services.SharedServices;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Topics as tables: the connector {@code millrace-kafka}, with the planner hook and without it. */
@ExtendWith(NothingHeldExtension.class)
class KafkaTableTest {
  private static final int BIDS = 20_000;
  private static final String COLUMNS =
      "auction BIGINT NOT NULL, price BIGINT NOT NULL, channel STRING";
  private static final String QUERY =
      "SELECT auction, UPPER(channel), price * 2 FROM bids WHERE price >= 50";

  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static KafkaTopic topic(String name, int partitions) throws Exception {
    return KafkaTopic.create(services.broker(), name, partitions);
  }

  private static List<String> bids() {
    return LongStream.range(0, BIDS)
        .mapToObj(
            i ->
                "{\"auction\":%d,\"price\":%d,\"channel\":\"channel \\u00e4 %d\"}"
                    .formatted(i, i % 100, i))
        .toList();
  }

  private static List<String> expected() {
    return LongStream.range(0, BIDS)
        .filter(i -> i % 100 >= 50)
        .mapToObj(
            i ->
                "{\"auction\":%d,\"channel\":\"CHANNEL Ä %d\",\"price\":%d}"
                    .formatted(i, i, 2 * (i % 100)))
        .toList();
  }

  private static String source(String name, String columns, KafkaTopic topic, String... options) {
    return table(
        name,
        columns,
        topic,
        "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'",
        options);
  }

  private static String sink(String name, String columns, KafkaTopic topic, String... options) {
    return table(
        name,
        columns,
        topic,
        "'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '"
            + topic.name()
            + "'",
        options);
  }

  private static String table(
      String name, String columns, KafkaTopic topic, String mode, String... options) {
    String further = options.length == 0 ? "'format' = 'json'" : String.join(", ", options);
    return "CREATE TEMPORARY TABLE %s (%s) WITH ('connector' = 'millrace-kafka', 'topic' = '%s', 'properties.bootstrap.servers' = '%s', %s, %s)"
        .formatted(name, columns, topic.name(), topic.bootstrapServers(), mode, further);
  }

  @ParameterizedTest
  @EnumSource(
      value = SqlMode.class,
      names = {"ON", "OFF"})
  void recordsOfJsonBecomeRecordsOfJson(SqlMode mode) throws Exception {
    KafkaTopic in = topic("sql-json-in-" + mode, 3);
    KafkaTopic out = topic("sql-json-out-" + mode, 2);
    in.sendValues(bids());
    SqlSession session =
        new SqlSession(flink, mode)
            .with(
                source("bids", COLUMNS, in),
                sink("kept", "auction BIGINT NOT NULL, channel STRING, price BIGINT", out));
    String insert = "INSERT INTO kept " + QUERY;
    if (mode == SqlMode.ON) {
      assertThat(session.nodes(insert))
          .containsExactly("MillraceSink", "MillraceCalc", "MillraceTableSourceScan");
      assertThat(session.plan(insert)).doesNotContain("in=[rows]");
    } else {
      assertThat(session.plan(insert)).doesNotContainIgnoringCase("millraceSink");
    }
    session.insert(insert);
    assertThat(out.read("read_committed")).containsExactlyInAnyOrderElementsOf(expected());
  }
}
