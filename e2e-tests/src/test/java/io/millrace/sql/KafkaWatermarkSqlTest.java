// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.services.KafkaTopic;
import io.millrace.services.SharedServices;
import io.millrace.testing.RootLocaleExtension;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.flink.types.Row;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Watermarks of topics that readers do not make. */
class KafkaWatermarkSqlTest {
  // Flink's connector writes the names of Kafka's options in the default locale.
  @RegisterExtension static final RootLocaleExtension locale = new RootLocaleExtension();
  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final String[] SETTINGS = {
    "SET 'table.exec.resource.default-parallelism' = '1'",
    "SET 'table.local-time-zone' = 'America/New_York'"
  };

  /** Times of records are instants, and a TIMESTAMP of them is local. */
  @ParameterizedTest
  @ValueSource(strings = {"TIMESTAMP(3)", "TIMESTAMP_LTZ(0)"})
  void timesOfRecordsAreDeclaredAsAnotherType(String type) throws Exception {
    KafkaTopic topic =
        KafkaTopic.create(services.broker(), "sql-times-" + type.replaceAll("\\W", "-"), 1);
    topic.send(
        LongStream.range(0, 5_000)
            .mapToObj(
                i ->
                    new ProducerRecord<String, String>(
                        topic.name(), 0, 1_700_000_000_000L + i * 100, null, "{\"id\":" + i + "}"))
            .toList());
    String table =
        KafkaTableTest.source(
            "bids",
            "id BIGINT, time_at "
                + type
                + " METADATA FROM 'timestamp' VIRTUAL,"
                + " WATERMARK FOR time_at AS time_at - INTERVAL '1' SECOND",
            topic);
    String query =
        "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(time_at), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end";
    SqlSession session = new SqlSession(flink, SqlMode.ON).with(SETTINGS).with(table);
    assertThat(session.nodes(query)).anyMatch(node -> node.endsWith("WatermarkAssigner"));
    Map<Row, Integer> rows = session.rows(query);
    assertThat(rows)
        .hasSizeGreaterThan(8)
        .isEqualTo(
            new SqlSession(flink, SqlMode.OFF)
                .with(SETTINGS)
                .with(KafkaTableTest.ofFlink(table))
                .rows(query));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'scan.watermark.idle-timeout' = '5 s' | needs watermarks that readers make",
        "'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '1 s'"
            + " | 'scan.watermark.alignment.group' is not supported"
      })
  void optionsOfReadersNeedWatermarksOfReaders(String option, String message) {
    String table =
        KafkaTableTest.source(
            "bids",
            "id BIGINT, time_at TIMESTAMP(3), WATERMARK FOR time_at AS time_at",
            new KafkaTopic("127.0.0.1:1", "refused", 1),
            "'format' = 'json'",
            option);
    SqlSession session = new SqlSession(flink, SqlMode.ON).with(table);
    assertThatThrownBy(() -> session.plan("SELECT id FROM bids")).hasStackTraceContaining(message);
  }
}
