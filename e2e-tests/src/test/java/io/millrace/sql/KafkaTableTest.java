// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.millrace.kafka.RegistryServer;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.services.KafkaTopic;
import io.millrace.services.SharedServices;
import io.millrace.sql.NexmarkTables.Content;
import io.millrace.testing.RootLocaleExtension;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.types.Row;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Topics as tables: the connector {@code millrace-kafka}, with the planner hook and without it. */
@ExtendWith(NothingHeldExtension.class)
class KafkaTableTest {
  private static final int BIDS = 20_000;
  private static final String COLUMNS =
      "auction BIGINT NOT NULL, price BIGINT NOT NULL, channel STRING";
  private static final String QUERY =
      "SELECT auction, UPPER(channel), price * 2 FROM bids WHERE price >= 50";

  // Flink's connector writes the names of Kafka's options in the default locale.
  @RegisterExtension static final RootLocaleExtension locale = new RootLocaleExtension();
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

  /** A statement that creates a table of what a topic has, with further options. */
  static String source(String name, String columns, KafkaTopic topic, String... options) {
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

  /** The same table of Flink's connector. */
  static String ofFlink(String table) {
    return table.replace("'millrace-kafka'", "'kafka'");
  }

  private static void assertRowsAreFlinks(String table, String query) throws Exception {
    List<Row> expected = sorted(new SqlSession(flink, SqlMode.OFF).with(ofFlink(table)), query);
    assertThat(expected).isNotEmpty();
    SqlSession session = new SqlSession(flink, SqlMode.ON).with(table);
    assertThat(session.plan(query)).contains("MillraceTableSourceScan").doesNotContain("in=[rows]");
    assertThat(sorted(session, query)).isEqualTo(expected);
    assertThat(sorted(new SqlSession(flink, SqlMode.OFF).with(table), query)).isEqualTo(expected);
  }

  private static List<Row> sorted(SqlSession session, String query) throws Exception {
    return session.changes(query).stream().sorted(Comparator.comparing(Row::toString)).toList();
  }

  @Test
  void keysAndMetadataAreColumns() throws Exception {
    KafkaTopic topic = topic("sql-metadata", 2);
    // Brokers delete old records.
    long first = System.currentTimeMillis();
    topic.send(
        LongStream.range(0, 100)
            .mapToObj(
                i ->
                    new ProducerRecord<>(
                        topic.name(),
                        (int) (i % 2),
                        first + i,
                        i % 3 == 0 ? null : "key " + i,
                        "{\"price\": " + i + "}"))
            .toList());
    String columns =
        "name STRING, price BIGINT, topic STRING METADATA VIRTUAL,"
            + " part INT METADATA FROM 'partition' VIRTUAL, `offset` BIGINT METADATA VIRTUAL,"
            + " time_at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL";
    String table =
        source(
            "bids",
            columns,
            topic,
            "'key.format' = 'raw', 'key.fields' = 'name'",
            "'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY'");
    assertRowsAreFlinks(table, "SELECT * FROM bids WHERE price > 3");
    assertRowsAreFlinks(table, "SELECT `offset`, name FROM bids");
    assertRowsAreFlinks(table, "SELECT time_at, part FROM bids WHERE price < 50");
  }

  static Stream<Arguments> formatsAreReadAsFlinkReadsThem() {
    String columns = "id BIGINT, name STRING, price DECIMAL(10, 2), time_at TIMESTAMP(3)";
    return Stream.of(
        arguments(
            "json",
            columns,
            "",
            List.of(
                "{\"id\":1,\"name\":\"a\",\"price\":1.25,\"time_at\":\"2026-01-02 03:04:05.678\"}",
                "{\"name\":null,\"id\":2}")),
        arguments(
            "json",
            columns,
            ", 'value.json.timestamp-format.standard' = 'ISO-8601', 'value.json.ignore-parse-errors' = 'true'",
            List.of(
                "{\"id\":1,\"time_at\":\"2026-01-02T03:04:05.678\"}", "{\"id\":", "{\"id\":3}")),
        arguments(
            "csv",
            columns + ", t TIME, u TIME(2)",
            ", 'value.csv.field-delimiter' = ';', 'value.csv.null-literal' = 'n/a'",
            List.of(
                "1;a;1.25;2026-01-02 03:04:05.678;10:20:30.129;10:20:30.129",
                "2;\"b;b\";n/a;n/a;10:20;n/a")),
        arguments("raw", "line STRING", "", List.of("a", "b b", "{}")),
        arguments(
            "debezium-json",
            columns,
            "",
            List.of(
                "{\"before\":null,\"after\":{\"id\":1,\"name\":\"a\"},\"op\":\"c\"}",
                "{\"before\":{\"id\":1,\"name\":\"a\"},\"after\":{\"id\":1,\"name\":\"b\"},\"op\":\"u\"}",
                "{\"before\":{\"id\":1,\"name\":\"b\"},\"after\":null,\"op\":\"d\"}")),
        arguments(
            "canal-json",
            columns,
            "",
            List.of(
                "{\"data\":[{\"id\":\"1\",\"name\":\"a\"}],\"type\":\"INSERT\"}",
                "{\"data\":[{\"id\":\"1\",\"name\":\"b\"}],\"old\":[{\"name\":\"a\"}],\"type\":\"UPDATE\"}")));
  }

  @ParameterizedTest
  @MethodSource
  void formatsAreReadAsFlinkReadsThem(
      String format, String columns, String options, List<String> records) throws Exception {
    KafkaTopic topic = topic("sql-read-" + format + options.length(), 1);
    topic.sendValues(records);
    assertRowsAreFlinks(
        source("records", columns, topic, "'value.format' = '" + format + "'" + options),
        "SELECT * FROM records");
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "csv", "avro", "raw"})
  void flinkReadsWhatIsWritten(String format) throws Exception {
    KafkaTopic topic = topic("sql-written-" + format, 1);
    boolean isRaw = format.equals("raw");
    boolean isNested = !format.equals("csv");
    String flat = "auction BIGINT, date_time TIMESTAMP(3) NOT NULL, url STRING";
    String nested = isNested ? ", nested ROW<price BIGINT, channels ARRAY<STRING>>" : "";
    String columns = isRaw ? "channel STRING, url STRING" : flat + nested;
    String row = isNested ? ", ROW(price, ARRAY[channel])" : "";
    String selected = isRaw ? "channel, url" : "auction, date_time, url" + row;
    String select = "SELECT " + selected + " FROM bid";
    String key = isRaw ? "channel" : "url";
    String legacy =
        format.equals("avro") ? ", 'value.avro.timestamp_mapping.legacy' = 'false'" : "";
    String formats =
        "'key.format' = 'raw', 'key.fields' = '%s', 'value.format' = '%s', 'value.fields-include' = 'EXCEPT_KEY'%s"
            .formatted(key, format, legacy);
    String bid = Content.BID_BATCHES.createTable("bid", 2_000);
    SqlSession session =
        new SqlSession(flink, SqlMode.ON).with(bid, sink("written", columns, topic, formats));
    assertThat(session.nodes("INSERT INTO written " + select)).startsWith("MillraceSink");
    session.insert("INSERT INTO written " + select);
    String table =
        source(
            "written", columns, topic, formats, "'properties.isolation.level' = 'read_committed'");
    assertRowsAreFlinks(table, "SELECT * FROM written");
    assertThat(sorted(new SqlSession(flink, SqlMode.OFF).with(table), "SELECT * FROM written"))
        .isEqualTo(
            sorted(
                new SqlSession(flink, SqlMode.OFF).with(Content.BID_ROWS.createTable("bid", 2_000)),
                select));
  }

  @ParameterizedTest
  @EnumSource(
      value = SqlMode.class,
      names = {"ON", "OFF"})
  void schemasAreInARegistry(SqlMode mode) throws Exception {
    KafkaTopic topic = topic("sql-registry-" + mode, 2);
    try (RegistryServer registry = new RegistryServer()) {
      registry.protect("millrace", "pass:word");
      String columns = "auction BIGINT NOT NULL, channel STRING, date_time TIMESTAMP(3)";
      String format =
          "'format' = 'avro-confluent', 'avro-confluent.url' = '%s', 'avro-confluent.basic-auth.credentials-source' = 'USER_INFO', 'avro-confluent.basic-auth.user-info' = 'millrace:pass:word'"
              .formatted(registry.address());
      String select = "SELECT auction, channel, date_time FROM bid";
      Content bids = mode == SqlMode.ON ? Content.BID_BATCHES : Content.BID_ROWS;
      new SqlSession(flink, mode)
          .with(bids.createTable("bid", 2_000), sink("written", columns, topic, format))
          .insert("INSERT INTO written " + select);
      String isolation = "'properties.isolation.level' = 'read_committed'";
      assertThat(
              sorted(
                  new SqlSession(flink, mode)
                      .with(source("written", columns, topic, format, isolation)),
                  "SELECT * FROM written"))
          .isEqualTo(
              sorted(
                  new SqlSession(flink, SqlMode.OFF)
                      .with(Content.BID_ROWS.createTable("bid", 2_000)),
                  select));
    }
  }

  @Test
  void readersMakeTheWatermarksOfEachPartition() throws Exception {
    KafkaTopic topic = topic("sql-watermarks", 2);
    topic.send(
        LongStream.range(0, 20_000)
            .mapToObj(
                i ->
                    new ProducerRecord<String, String>(
                        topic.name(),
                        (int) (i / 10_000),
                        null,
                        "{\"id\":%d,\"time_at\":\"%s\"}"
                            .formatted(
                                i % 10_000,
                                Instant.ofEpochMilli(i % 10_000 * 100)
                                    .toString()
                                    .replace("T", " ")
                                    .replace("Z", ""))))
            .toList());
    String table =
        source(
            "bids",
            "id BIGINT, time_at TIMESTAMP(3), WATERMARK FOR time_at AS time_at - INTERVAL '1.5' SECOND",
            topic);
    String query =
        "SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(time_at), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end";
    SqlSession session =
        new SqlSession(flink, SqlMode.ON)
            .with("SET 'table.exec.resource.default-parallelism' = '1'", table);
    assertThat(session.plan(query))
        .contains("watermark=[-(time_at, 1500:INTERVAL SECOND)]")
        .doesNotContain("WatermarkAssigner");
    Map<Row, Integer> rows = session.rows(query);
    assertThat(rows).hasSize(17);
    assertThat(rows.keySet()).extracting(row -> row.getField(1)).contains(1_200L, 800L).hasSize(17);
    assertThat(rows)
        .isEqualTo(
            new SqlSession(flink, SqlMode.OFF)
                .with("SET 'table.exec.resource.default-parallelism' = '1'", ofFlink(table))
                .rows(query));
  }

  @Test
  void timestampsOfRecordsAreEventTimes() throws Exception {
    KafkaTopic topic = topic("sql-timestamps", 2);
    long minute = Duration.ofMinutes(1).toMillis();
    // Brokers delete old records.
    long first = System.currentTimeMillis() / minute * minute;
    topic.send(
        LongStream.range(0, 20_000)
            .mapToObj(
                i ->
                    new ProducerRecord<String, String>(
                        topic.name(),
                        (int) (i / 10_000),
                        first + i % 10_000 * 100,
                        null,
                        "{\"id\":" + i + "}"))
            .toList());
    String table =
        source(
            "bids",
            "id BIGINT, time_at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,"
                + " WATERMARK FOR time_at AS time_at - INTERVAL '1' SECOND",
            topic);
    String query =
        "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(time_at), INTERVAL '1' MINUTE)) WHERE id > 10 GROUP BY window_start, window_end";
    SqlSession session =
        new SqlSession(flink, SqlMode.ON)
            .with("SET 'table.exec.resource.default-parallelism' = '1'", table);
    assertThat(session.plan(query)).contains("watermark=[").doesNotContain("WatermarkAssigner");
    Map<Row, Integer> rows = session.rows(query);
    assertThat(rows).hasSize(17);
    assertThat(rows)
        .isEqualTo(
            new SqlSession(flink, SqlMode.OFF)
                .with("SET 'table.exec.resource.default-parallelism' = '1'", ofFlink(table))
                .rows(query));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'format' = 'parquet' | Supported formats are: json, csv, avro",
        "'format' = 'json', 'sink.partitioner' = 'fixed' | only 'default' is",
        "'format' = 'json', 'key.format' = 'raw' | 'key.format' and 'key.fields' need each other",
        "'format' = 'json', 'key.format' = 'json', 'key.fields' = 'name' | 'key.format' = 'json' is not supported",
        "'format' = 'json', 'key.format' = 'raw', 'key.fields' = 'nam' | the column 'nam'",
        "'format' = 'json', 'key.format' = 'json', 'key.fields' = 'name;price', 'key.json.timestamp-format.standard' = 'ISO-8601' | expected the same value",
        "'format' = 'debezium-json' | does not write the format 'debezium-json'",
        "'format' = 'json', 'sink.buffer-flush.interval' = '1 s' | sink.buffer-flush.interval",
        "'format' = 'avro-confluent' | 'avro-confluent.url' is required"
      })
  void whatIsNotSupportedIsRefused(String options, String message) {
    KafkaTopic topic = new KafkaTopic("127.0.0.1:1", "refused", 1);
    SqlSession session =
        new SqlSession(flink, SqlMode.ON)
            .with(
                Content.BID_BATCHES.createTable("bid", 1),
                sink("refused", "name STRING, price BIGINT", topic, options));
    assertThatThrownBy(() -> session.plan("INSERT INTO refused SELECT channel, price FROM bid"))
        .hasStackTraceContaining(message);
  }
}
