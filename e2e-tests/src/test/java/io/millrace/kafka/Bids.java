// SPDX-License-Identifier: Apache-2.0
package io.millrace.kafka;

import static io.millrace.expression.Expressions.col;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.kafka.KafkaDecodingOperator;
import io.millrace.connectors.kafka.KafkaDecodingOptions;
import io.millrace.connectors.kafka.KafkaRecordSource;
import io.millrace.connectors.kafka.KafkaRecordSourceBuilder;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.services.KafkaTopic;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Bids as JSON, of which a job keeps those of at least half of the highest price. */
final class Bids {
  static final Schema SCHEMA =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          new Field("price", DataType.INT64, false),
          Field.of("channel", DataType.STRING));

  private static final int PRICES = 100;

  private Bids() {}

  /** The bids of these auctions. */
  static List<String> json(long first, long count) {
    return LongStream.range(first, first + count).mapToObj(Bids::json).toList();
  }

  static String json(long auction) {
    return "{\"auction\":%d,\"price\":%d,\"channel\":\"channel \\u00e4 %d\"}"
        .formatted(auction, auction % PRICES, auction);
  }

  /** What the job writes of {@link #json}, in the order of the auctions. */
  static List<String> expected(long first, long count) {
    return LongStream.range(first, first + count)
        .filter(auction -> auction % PRICES >= PRICES / 2)
        .mapToObj(
            auction ->
                "{\"auction\":%d,\"channel\":\"channel ä %d\",\"double\":%d}"
                    .formatted(auction, auction, 2 * (auction % PRICES)))
        .toList();
  }

  /** A source of a topic from its beginning. */
  static KafkaRecordSourceBuilder source(KafkaTopic topic) {
    return KafkaRecordSource.builder()
        .setBootstrapServers(topic.bootstrapServers())
        .setTopics(topic.name())
        .setStartingOffsets(OffsetsInitializer.earliest());
  }

  /** A source that ends at the end that the topic has now. */
  static KafkaRecordSource bounded(KafkaTopic topic) {
    return source(topic).setBounded(OffsetsInitializer.latest()).build();
  }

  static SingleOutputStreamOperator<ColumnBatch> read(
      StreamExecutionEnvironment environment, KafkaRecordSource source) {
    return read(environment, source, KafkaDecodingOptions.of(new JsonRecordFormat(SCHEMA)));
  }

  static SingleOutputStreamOperator<ColumnBatch> read(
      StreamExecutionEnvironment environment,
      KafkaRecordSource source,
      KafkaDecodingOptions options) {
    return KafkaDecodingOperator.decode(
        environment, source, WatermarkStrategy.noWatermarks(), "bids", options);
  }

  /** The filter and the projection of the job. */
  static ColumnStream filter(SingleOutputStreamOperator<ColumnBatch> bids) {
    return ColumnStream.fromBatches(bids)
        .filter(col("price").ge(PRICES / 2))
        .select(col("auction"), col("channel"), col("price").times(2).as("double"))
        .uid("calc");
  }
}
