// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.table;

import io.millrace.connectors.table.EventTimes;
import io.millrace.connectors.table.FormatSettings;
import io.millrace.connectors.table.TableColumns;
import io.millrace.connectors.table.TableFormat;
import io.millrace.connectors.table.TableOptions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;

/**
 * The connector {@code millrace-kafka}: topics as tables that give and take batches, with the
 * options of Flink's connector {@code kafka}.
 */
@PublicEvolving
public final class KafkaTableFactory implements DynamicTableSourceFactory, DynamicTableSinkFactory {
  /** The name of the connector. */
  public static final String IDENTIFIER = "millrace-kafka";

  static final String PROPERTIES = "properties.";

  /** The formats of values. */
  static final List<TableFormat> VALUE_FORMATS = TableFormat.allBut(TableFormat.PARQUET);

  private static final List<ConfigOption<?>> SCAN_OPTIONS =
      List.of(
          KafkaConnectorOptions.TOPIC_PATTERN,
          KafkaConnectorOptions.PROPS_GROUP_ID,
          KafkaConnectorOptions.SCAN_STARTUP_MODE,
          KafkaConnectorOptions.SCAN_STARTUP_SPECIFIC_OFFSETS,
          KafkaConnectorOptions.SCAN_STARTUP_TIMESTAMP_MILLIS,
          KafkaConnectorOptions.SCAN_BOUNDED_MODE,
          KafkaConnectorOptions.SCAN_BOUNDED_SPECIFIC_OFFSETS,
          KafkaConnectorOptions.SCAN_BOUNDED_TIMESTAMP_MILLIS,
          KafkaConnectorOptions.SCAN_TOPIC_PARTITION_DISCOVERY,
          KafkaConnectorOptions.SCAN_PARALLELISM);

  private static final List<ConfigOption<?>> SINK_OPTIONS =
      List.of(
          KafkaConnectorOptions.SINK_PARTITIONER,
          KafkaConnectorOptions.SINK_PARALLELISM,
          KafkaConnectorOptions.DELIVERY_GUARANTEE,
          KafkaConnectorOptions.TRANSACTIONAL_ID_PREFIX,
          KafkaConnectorOptions.TRANSACTION_NAMING_STRATEGY);

  private static final List<ConfigOption<?>> RECORD_OPTIONS =
      List.of(
          FactoryUtil.FORMAT,
          KafkaConnectorOptions.VALUE_FORMAT,
          KafkaConnectorOptions.VALUE_FIELDS_INCLUDE,
          KafkaConnectorOptions.KEY_FORMAT,
          KafkaConnectorOptions.KEY_FIELDS);

  @Override
  public String factoryIdentifier() {
    return IDENTIFIER;
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(KafkaConnectorOptions.PROPS_BOOTSTRAP_SERVERS);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Stream.of(
            List.of(KafkaConnectorOptions.TOPIC), RECORD_OPTIONS, SCAN_OPTIONS, SINK_OPTIONS)
        .flatMap(List::stream)
        .collect(Collectors.toSet());
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    TableOptions options = new TableOptions(this, context);
    FormatSettings value = valueFormat(options);
    RecordColumns columns = columns(context, options);
    KafkaScanOptions scan = KafkaScanOptions.of(options);
    options.validate();
    if (value.format().isChangelog() || context.getPrimaryKeyIndexes().length == 0) {
      return KafkaTableSource.of(columns, value, scan, EventTimes.of(context));
    }
    throw noKey(value);
  }

  @Override
  public DynamicTableSink createDynamicTableSink(Context context) {
    TableOptions options = new TableOptions(this, context);
    FormatSettings value = valueFormat(options);
    RecordColumns columns = columns(context, options);
    KafkaSinkOptions sink = KafkaSinkOptions.of(options);
    options.validate();
    if (context.getPrimaryKeyIndexes().length > 0) {
      throw noKey(value);
    }
    return new KafkaTableSink(
        columns, RecordEncoders.of(columns, value, sink.topic()), sink, context.getConfiguration());
  }

  private static ValidationException noKey(FormatSettings value) {
    return new ValidationException(
        "a table of '%s' with the format '%s' has no primary key, since its rows are only inserted"
            .formatted(IDENTIFIER, value.format().identifier()));
  }

  private static FormatSettings valueFormat(TableOptions options) {
    Optional<FormatSettings> plain = options.format(FactoryUtil.FORMAT, VALUE_FORMATS);
    Optional<FormatSettings> ofValue =
        options.format(KafkaConnectorOptions.VALUE_FORMAT, VALUE_FORMATS);
    if (plain.isPresent() && ofValue.isPresent()) {
      throw new ValidationException("'format' and 'value.format' are options for the same");
    }
    return ofValue
        .or(() -> plain)
        .orElseThrow(() -> new ValidationException("'format' or 'value.format' is required"));
  }

  private static RecordColumns columns(Context context, TableOptions options) {
    return RecordColumns.of(TableColumns.physical(context), options);
  }
}
