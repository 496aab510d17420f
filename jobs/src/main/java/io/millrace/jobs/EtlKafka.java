// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.connectors.files.LinePosition;
import io.millrace.connectors.files.MalformedLine;
import io.millrace.connectors.files.MalformedLineSerializer;
import io.millrace.connectors.files.TextLine;
import io.millrace.connectors.kafka.KafkaDecodingOperator;
import io.millrace.connectors.kafka.KafkaDecodingOptions;
import io.millrace.connectors.kafka.KafkaRecordSource;
import io.millrace.connectors.kafka.KafkaRecordSourceBuilder;
import io.millrace.connectors.kafka.MalformedKafkaRecord;
import io.millrace.connectors.kafka.MalformedKafkaRecordSerializer;
import io.millrace.connectors.kafka.MalformedRecordPolicy;
import io.millrace.connectors.kafka.MetadataColumn;
import io.millrace.connectors.records.EventTimeWatermarks;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.connectors.records.RecordFormat;
import io.millrace.format.RecordFilter;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.SchemaParser;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;

/** The settings of a source that reads topics of Kafka, and the source. */
final class EtlKafka {
  /** Where a job without a savepoint begins in each partition. */
  enum Start {
    EARLIEST,
    LATEST,
    COMMITTED
  }

  /** Where a job ends in each partition. */
  enum End {
    NONE,
    LATEST
  }

  /** The format of the values. */
  enum Format {
    JSON,
    AVRO
  }

  static final ConfigOption<Format> FORMAT =
      key("source.kafka.format")
          .enumType(Format.class)
          .defaultValue(Format.JSON)
          .withDescription("Format of the values: json or avro.");
  static final ConfigOption<String> SERVERS =
      key("source.kafka.bootstrap-servers")
          .stringType()
          .noDefaultValue()
          .withDescription("Brokers to connect to first: host:port, host:port.");
  static final ConfigOption<String> TOPIC =
      key("source.kafka.topic")
          .stringType()
          .noDefaultValue()
          .withDescription("Topics to read, with commas between them.");
  static final ConfigOption<String> GROUP =
      key("source.kafka.group")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Consumer group to which offsets are committed, for others to see; none if not"
                  + " given.");
  static final ConfigOption<Start> START =
      key("source.kafka.start")
          .enumType(Start.class)
          .defaultValue(Start.EARLIEST)
          .withDescription(
              "Where a job that resumes nothing begins: earliest, latest, or committed: behind the"
                  + " offsets of the group.");
  static final ConfigOption<End> END =
      key("source.kafka.end")
          .enumType(End.class)
          .defaultValue(End.NONE)
          .withDescription(
              "Where the input ends: none, or latest: behind the last record that was there when"
                  + " the job began.");
  static final ConfigOption<Duration> IDLE =
      key("source.watermark.idle")
          .durationType()
          .noDefaultValue()
          .withDescription(
              "After how long without records a partition no longer holds the watermark back; it"
                  + " always does if not given.");

  /** Columns with what Kafka knows of each record: the name of a column, and what it has. */
  static final String METADATA = "source.kafka.metadata.";

  /** Properties of Kafka's consumer. */
  static final String PROPERTIES = "source.kafka.properties.";

  static final List<ConfigOption<?>> ALL = List.of(SERVERS, TOPIC, FORMAT, GROUP, START, END, IDLE);

  private static final String READING = "reading topics of Kafka";
  private static final long NO_TIMESTAMP = -1;
  private static final String HEADER = "header ";

  private EtlKafka() {}

  /**
   * The columns of the values and of the metadata behind them.
   *
   * @throws UsageException if a setting is missing or wrong
   */
  static Schema schema(Configuration settings) {
    try {
      return decoding(settings, false).schema();
    } catch (IllegalArgumentException e) {
      throw new UsageException(EtlOptions.SOURCE_SCHEMA.key() + ": " + e.getMessage());
    }
  }

  /**
   * Checks that what is needed is given.
   *
   * @throws UsageException naming the first setting that is missing
   */
  static void check(Configuration settings) {
    EtlOptions.required(settings, SERVERS, READING);
    EtlOptions.required(settings, TOPIC, READING);
    if (settings.get(START) == Start.COMMITTED) {
      EtlOptions.required(settings, GROUP, READING);
    }
  }

  /**
   * Adds the source.
   *
   * @param skips whether malformed records are a side output
   * @param hasPositions whether rows have the columns of {@link LinePosition}
   * @param watermarks of a column; empty for none
   * @param filter for which {@link #isFiltered}; empty to read all rows
   */
  static SingleOutputStreamOperator<ColumnBatch> read(
      StreamExecutionEnvironment environment,
      Configuration settings,
      boolean skips,
      boolean hasPositions,
      Optional<EventTimeWatermarks> watermarks,
      Optional<RecordFilter> filter) {
    KafkaDecodingOptions options =
        decoding(settings, hasPositions)
            .withMaxRows(settings.get(EtlOptions.BATCH_ROWS))
            .withMalformedRecords(
                skips ? MalformedRecordPolicy.SIDE_OUTPUT : MalformedRecordPolicy.FAIL);
    KafkaDecodingOptions timed = watermarks.map(options::withWatermarks).orElse(options);
    return KafkaDecodingOperator.decode(
        environment,
        source(settings),
        WatermarkStrategy.noWatermarks(),
        "kafka",
        filter.map(timed::withFilter).orElse(timed));
  }

  /**
   * Whether records are filtered while they are read.
   *
   * @param watermarks of a column; empty for none
   */
  static boolean isFiltered(
      Configuration settings, RecordFilter filter, Optional<EventTimeWatermarks> watermarks) {
    RecordFormat format = format(settings);
    boolean isTimed =
        watermarks.map(marks -> format.schema().names().contains(marks.column())).orElse(true);
    return isTimed && format.unsupported(filter).isEmpty();
  }

  /** Records that are not rows, as lines of the file {@code topic-partition} at their offsets. */
  static DataStream<MalformedLine> lines(DataStream<MalformedKafkaRecord> malformed) {
    return malformed
        .map(EtlKafka::line)
        .returns(MalformedLineSerializer.typeInformation())
        .name("describe malformed records")
        .uid("describe-malformed-records");
  }

  private static MalformedLine line(MalformedKafkaRecord record) {
    byte[] value = record.value() == null ? new byte[0] : record.value();
    String partition = new TopicPartition(record.topic(), record.partition()).toString();
    return new MalformedLine(
        new TextLine(partition, record.offset(), value, false), record.reason());
  }

  /** Rows that an expression failed for, as records whose values are the rows as JSON. */
  static DataStream<MalformedKafkaRecord> records(DataStream<MalformedLine> failedRows) {
    return failedRows
        .map(EtlKafka::record)
        .returns(MalformedKafkaRecordSerializer.typeInformation())
        .name("failed rows as records")
        .uid("failed-rows-as-records");
  }

  private static MalformedKafkaRecord record(MalformedLine row) {
    String partition = row.line().path();
    int dash = partition.lastIndexOf('-');
    return new MalformedKafkaRecord(
        partition.substring(0, dash),
        Integer.parseInt(partition.substring(dash + 1)),
        row.line().offset(),
        NO_TIMESTAMP,
        null,
        row.line().bytes(),
        row.reason());
  }

  private static KafkaRecordSource source(Configuration settings) {
    KafkaRecordSourceBuilder builder =
        KafkaRecordSource.builder()
            .setBootstrapServers(settings.get(SERVERS))
            .setTopics(List.of(settings.get(TOPIC).split("\\s*,\\s*")))
            .setStartingOffsets(start(settings.get(START)));
    settings.getOptional(GROUP).ifPresent(builder::setGroupId);
    if (settings.get(END) == End.LATEST) {
      builder.setBounded(OffsetsInitializer.latest());
    }
    under(settings, PROPERTIES).forEach(builder::setProperty);
    return builder.build();
  }

  @SuppressWarnings("deprecation") // Flink's method takes this type
  private static OffsetsInitializer start(Start start) {
    return switch (start) {
      case EARLIEST -> OffsetsInitializer.earliest();
      case LATEST -> OffsetsInitializer.latest();
      case COMMITTED -> OffsetsInitializer.committedOffsets(OffsetResetStrategy.EARLIEST);
    };
  }

  private static KafkaDecodingOptions decoding(Configuration settings, boolean hasPositions) {
    List<MetadataColumn> metadata = new ArrayList<>();
    under(settings, METADATA).forEach((name, what) -> metadata.add(metadata(name, what)));
    if (hasPositions) {
      metadata.add(MetadataColumn.topicPartition(LinePosition.FILE));
      metadata.add(MetadataColumn.offset(LinePosition.OFFSET));
    }
    return KafkaDecodingOptions.of(format(settings))
        .withMetadata(metadata.toArray(MetadataColumn[]::new));
  }

  private static RecordFormat format(Configuration settings) {
    Schema values =
        SchemaParser.parse(
            EtlOptions.SOURCE_SCHEMA.key(),
            EtlOptions.required(settings, EtlOptions.SOURCE_SCHEMA, READING));
    return settings.get(FORMAT) == Format.AVRO
        ? EtlAvro.format(settings, values)
        : new JsonRecordFormat(values);
  }

  private static MetadataColumn metadata(String name, String what) {
    if (what.startsWith(HEADER)) {
      return MetadataColumn.header(name, what.substring(HEADER.length()).strip(), DataType.STRING);
    }
    return switch (what) {
      case "topic" -> MetadataColumn.topic(name);
      case "partition" -> MetadataColumn.partition(name);
      case "offset" -> MetadataColumn.offset(name);
      case "timestamp" -> MetadataColumn.timestamp(name);
      case "key" -> MetadataColumn.key(name, DataType.STRING);
      default ->
          throw new UsageException(
              METADATA
                  + name
                  + ": expected topic, partition, offset, timestamp, key or 'header NAME', got '"
                  + what
                  + "'");
    };
  }

  /** The settings whose keys begin with {@code prefix}, without it. */
  static Map<String, String> under(Configuration settings, String prefix) {
    Map<String, String> found = new TreeMap<>();
    settings
        .toMap()
        .forEach(
            (name, value) -> {
              if (name.startsWith(prefix)) {
                found.put(name.substring(prefix.length()), value);
              }
            });
    return found;
  }
}
