// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import static io.millrace.expression.Expressions.col;

import io.millrace.arrow.ipc.ArrowIpcStreamReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.kafka.KafkaDecodingOperator;
import io.millrace.connectors.kafka.KafkaDecodingOptions;
import io.millrace.connectors.kafka.KafkaRecordSource;
import io.millrace.connectors.kafka.sink.ArrowRecordEncoder;
import io.millrace.connectors.kafka.sink.JsonRecordEncoder;
import io.millrace.connectors.kafka.sink.KafkaEncodingOperator;
import io.millrace.connectors.kafka.sink.KafkaSinks;
import io.millrace.connectors.kafka.sink.RecordEncoder;
import io.millrace.connectors.records.ArrowRecordFormat;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.format.RecordFilter;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.operators.api.ColumnStream;
import io.millrace.services.Broker;
import io.millrace.services.KafkaTopic;
import io.millrace.services.Services;
import io.millrace.testing.TableRows;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * Bids as JSON from a topic, a filter and a projection, as JSON to a topic, exactly once, by
 * Millrace and by stock Flink SQL; and the same bids by Millrace from a topic of Arrow IPC streams
 * to another. Two subtasks of each operator; objects are reused. The broker is another process; the
 * processor time is that of Flink's process, from the start of a job to its end. All write the same
 * rows. The jobs run in turn, some rounds, of which the first three do not count.
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
  private static final Expression KEPT = col("price").gt(MIN_PRICE);
  private static final String TRANSACTION_TIMEOUT_MILLIS = "900000";
  private static final int PARTITIONS = 4;
  private static final int SENT_ROWS = 1 << 16;
  // Compilation takes as much time as a job of a few million rows until then.
  private static final int WARM_UP_ROUNDS = 3;

  private final MiniCluster cluster;
  private final Broker broker;
  private final KafkaTopic input;
  private final KafkaTopic arrowInput;
  private final int rows;

  private KafkaBenchmark(MiniCluster cluster, Broker broker, int rows) throws Exception {
    this.cluster = cluster;
    this.broker = broker;
    this.input = KafkaTopic.create(broker, "bids", PARTITIONS);
    this.arrowInput = KafkaTopic.create(broker, "arrow-bids", PARTITIONS);
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
    System.out.println(
        "| round | stock Flink SQL, processor ns a row | Millrace | ratio | Millrace, Arrow | ratio"
            + " |");
    System.out.println("|---|---|---|---|---|---|");
    for (int round = 1 - WARM_UP_ROUNDS; round <= rounds; round++) {
      KafkaTopic ofStock = KafkaTopic.create(broker, "stock-" + round, PARTITIONS);
      KafkaTopic ofMillrace = KafkaTopic.create(broker, "millrace-" + round, PARTITIONS);
      double stock = run(environment -> stock(environment, ofStock));
      KafkaTopic ofArrow = KafkaTopic.create(broker, "arrow-" + round, PARTITIONS);
      double millrace =
          run(
              environment ->
                  write(selected(keptJson(environment)), JsonRecordEncoder::of, ofMillrace));
      double arrow =
          run(
              environment ->
                  write(
                      selected(arrow(environment).filter(KEPT)),
                      schema -> ArrowRecordEncoder.create(),
                      ofArrow));
      long[] expected = digests(ofStock, KafkaBenchmark::json);
      if (!Arrays.equals(expected, digests(ofMillrace, KafkaBenchmark::json))
          || !Arrays.equals(expected, digests(ofArrow, KafkaBenchmark::jsonOfArrow))) {
        throw new IllegalStateException("expected the same rows of all jobs");
      }
      if (round > 0) {
        System.out.printf(
            Locale.ROOT,
            "| %d | %.0f | %.0f | %.2f | %.0f | %.1f |%n",
            round,
            stock,
            millrace,
            stock / millrace,
            arrow,
            stock / arrow);
      }
    }
  }

  // Rows that are kept would be work for the garbage collector during the next jobs.
  private static long[] digests(KafkaTopic topic, Function<byte[], Stream<String>> rows)
      throws Exception {
    LongStream.Builder digests = LongStream.builder();
    CRC32C checksum = new CRC32C();
    topic.forEach(
        "read_committed",
        record -> rows.apply(record.value()).forEach(row -> digests.add(digest(row, checksum))));
    return digests.build().sorted().toArray();
  }

  private static long digest(String row, CRC32C checksum) {
    checksum.reset();
    checksum.update(row.getBytes(StandardCharsets.UTF_8));
    return (checksum.getValue() << Integer.SIZE) + row.hashCode();
  }

  private static Stream<String> json(byte[] row) {
    return Stream.of(new String(row, StandardCharsets.UTF_8));
  }

  private static Stream<String> jsonOfArrow(byte[] arrow) {
    try (DeviceStream stream = HostDevice.INSTANCE.createStream();
        ArrowIpcStreamReader reader =
            new ArrowIpcStreamReader(
                Channels.newChannel(new ByteArrayInputStream(arrow)),
                stream,
                HostMemoryResource.INSTANCE);
        Table table = reader.read().orElseThrow()) {
      return TableRows.ofHost(table, stream).stream().map(KafkaBenchmark::json);
    } catch (IOException e) {
      throw new UncheckedIOException("expected a stream of Arrow", e);
    }
  }

  private static String json(List<Object> row) {
    return String.format(
        Locale.ROOT,
        "{\"auction\":%s,\"bidder\":%s,\"doubled\":%s,\"channel\":\"%s\"}",
        row.toArray());
  }

  private void writeInput() throws Exception {
    Random random = new Random(1);
    for (int start = 0; start < rows; start += SENT_ROWS) {
      input.sendValues(
          Stream.generate(() -> BidJob.jsonBid(random))
              .limit(Math.min(SENT_ROWS, rows - start))
              .toList());
    }
    run(environment -> write(json(environment), schema -> ArrowRecordEncoder.create(), arrowInput));
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

  private ColumnStream json(StreamExecutionEnvironment environment) {
    return read(environment, input, KafkaDecodingOptions.of(new JsonRecordFormat(SCHEMA)));
  }

  // As 'millrace etl' reads them.
  private ColumnStream keptJson(StreamExecutionEnvironment environment) {
    return read(
        environment,
        input,
        KafkaDecodingOptions.of(new JsonRecordFormat(SCHEMA))
            .withFilter(RecordFilter.of(KEPT, ExpressionSettings.DEFAULT)));
  }

  private ColumnStream arrow(StreamExecutionEnvironment environment) {
    return read(environment, arrowInput, KafkaDecodingOptions.of(new ArrowRecordFormat(SCHEMA)));
  }

  private static ColumnStream read(
      StreamExecutionEnvironment environment, KafkaTopic topic, KafkaDecodingOptions options) {
    KafkaRecordSource source =
        KafkaRecordSource.builder()
            .setBootstrapServers(topic.bootstrapServers())
            .setTopics(topic.name())
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setBounded(OffsetsInitializer.latest())
            .setProperty("isolation.level", "read_committed")
            .build();
    return ColumnStream.fromBatches(
        KafkaDecodingOperator.decode(
            environment, source, WatermarkStrategy.noWatermarks(), "bids", options));
  }

  private static ColumnStream selected(ColumnStream bids) {
    return bids.select(
        col("auction"), col("bidder"), col("price").times(2).as("doubled"), col("channel"));
  }

  private static void write(
      ColumnStream stream, Function<Schema, RecordEncoder> encoder, KafkaTopic output) {
    KafkaEncodingOperator.encode(stream.toBatches(), encoder.apply(stream.schema()))
        .sinkTo(
            KafkaSinks.builder(output.name())
                .setBootstrapServers(output.bootstrapServers())
                .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .setTransactionalIdPrefix(output.name())
                .build());
  }
}
