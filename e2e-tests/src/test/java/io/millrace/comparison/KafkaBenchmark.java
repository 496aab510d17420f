// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import static io.millrace.expression.Expressions.col;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.kafka.KafkaDecodingOperator;
import io.millrace.connectors.kafka.KafkaDecodingOptions;
import io.millrace.connectors.kafka.KafkaRecordSource;
import io.millrace.connectors.kafka.sink.JsonRecordEncoder;
import io.millrace.connectors.kafka.sink.KafkaEncodingOperator;
import io.millrace.connectors.kafka.sink.KafkaSinks;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.operators.api.ColumnStream;
import io.millrace.services.Broker;
import io.millrace.services.KafkaTopic;
import io.millrace.services.Services;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * Bids as JSON from a topic, a filter and a projection, as JSON to a topic, exactly once, by
 * Millrace and by stock Flink SQL. Two subtasks of each operator; objects are reused. The broker is
 * another process; the processor time is that of Flink's process, from the start of a job to its
 * end. Both write the same records. The jobs run in turn, some rounds, of which the first does not
 * count.
 */
public final class KafkaBenchmark {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("auction", DataType.INT64),
          Field.of("bidder", DataType.INT64),
          Field.of("price", DataType.INT64),
          Field.of("channel", DataType.STRING),
          Field.of("dateTime", DataType.timestamp(3)),
          Field.of("extra", DataType.STRING));
  private static final String COLUMNS =
      "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, `dateTime` TIMESTAMP(3),"
          + " extra STRING";
  private static final long MIN_PRICE = 50_000_000;
  private static final String TRANSACTION_TIMEOUT_MILLIS = "900000";
  private static final int PARTITIONS = 4;

  private final MiniCluster cluster;
  private final Broker broker;
  private final KafkaTopic input;
  private final int rows;

  private KafkaBenchmark(MiniCluster cluster, Broker broker, int rows) throws Exception {
    this.cluster = cluster;
    this.broker = broker;
    this.input = KafkaTopic.create(broker, "bids", PARTITIONS);
    this.rows = rows;
  }

  /** Runs the jobs. Arguments: Ki rows, the number of rounds. */
  public static void main(String[] arguments) throws Exception {
    int rows = Integer.parseInt(arguments[0]) << 10;
    MiniCluster cluster = BidJob.cluster();
    try (Broker broker = Services.startBroker()) {
      cluster.start();
      new KafkaBenchmark(cluster, broker, rows).report(Integer.parseInt(arguments[1]));
    } finally {
      cluster.closeAsync().join();
    }
  }

  private void report(int rounds) throws Exception {
    writeInput();
    System.out.println("| round | stock Flink SQL, processor ns a row | Millrace | ratio |");
    System.out.println("|---|---|---|---|");
    for (int round = 0; round <= rounds; round++) {
      KafkaTopic ofStock = KafkaTopic.create(broker, "stock-" + round, PARTITIONS);
      KafkaTopic ofMillrace = KafkaTopic.create(broker, "millrace-" + round, PARTITIONS);
      double stock = run(environment -> stock(environment, ofStock));
      double millrace = run(environment -> millrace(environment, ofMillrace));
      if (!Arrays.equals(sorted(ofStock), sorted(ofMillrace))) {
        throw new IllegalStateException("expected the same records of both jobs");
      }
      if (round > 0) {
        System.out.printf(
            Locale.ROOT, "| %d | %.0f | %.0f | %.2f |%n", round, stock, millrace, stock / millrace);
      }
    }
  }

  private static String[] sorted(KafkaTopic topic) throws Exception {
    String[] values = topic.read("read_committed").toArray(String[]::new);
    Arrays.sort(values);
    return values;
  }

  private void writeInput() throws Exception {
    Random random = new Random(1);
    List<String> bids = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      bids.add(BidJob.bid(random));
    }
    input.sendValues(bids);
  }

  private double run(BidJob job) throws Exception {
    return job.run(cluster, Duration.ofSeconds(1), rows);
  }

  private void stock(StreamExecutionEnvironment environment, KafkaTopic output) {
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.executeSql(
        "CREATE TABLE bids ("
            + COLUMNS
            + ") WITH ("
            + connector(input)
            + ", 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset')");
    tables.executeSql(
        "CREATE TABLE kept (auction BIGINT, bidder BIGINT, doubled BIGINT, channel STRING) WITH ("
            + connector(output)
            + ", 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '"
            + output.name()
            + "', 'properties.transaction.timeout.ms' = '"
            + TRANSACTION_TIMEOUT_MILLIS
            + "')");
    StreamStatementSet statements = tables.createStatementSet();
    statements.addInsertSql(
        "INSERT INTO kept SELECT auction, bidder, price * 2, channel FROM bids WHERE price > "
            + MIN_PRICE);
    statements.attachAsDataStream();
  }

  private static String connector(KafkaTopic topic) {
    return "'connector' = 'kafka', 'format' = 'json', 'topic' = '"
        + topic.name()
        + "', 'properties.bootstrap.servers' = '"
        + topic.bootstrapServers()
        + "'";
  }

  private void millrace(StreamExecutionEnvironment environment, KafkaTopic output) {
    KafkaRecordSource source =
        KafkaRecordSource.builder()
            .setBootstrapServers(input.bootstrapServers())
            .setTopics(input.name())
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setBounded(OffsetsInitializer.latest())
            .build();
    ColumnStream kept =
        ColumnStream.fromBatches(
                KafkaDecodingOperator.decode(
                    environment,
                    source,
                    WatermarkStrategy.noWatermarks(),
                    "bids",
                    KafkaDecodingOptions.of(new JsonRecordFormat(SCHEMA))))
            .filter(col("price").gt(MIN_PRICE))
            .select(
                col("auction"), col("bidder"), col("price").times(2).as("doubled"), col("channel"));
    KafkaEncodingOperator.encode(kept.toBatches(), JsonRecordEncoder.of(kept.schema()))
        .sinkTo(
            KafkaSinks.builder(output.name())
                .setBootstrapServers(output.bootstrapServers())
                .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .setTransactionalIdPrefix(output.name())
                .build());
  }
}
