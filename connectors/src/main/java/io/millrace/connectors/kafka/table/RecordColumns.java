// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.table;

import io.millrace.column.Schema;
import io.millrace.connectors.table.FormatSettings;
import io.millrace.connectors.table.TableFormat;
import io.millrace.connectors.table.TableOptions;
import java.util.List;
import java.util.Optional;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions;
import org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions.ValueFieldsStrategy;
import org.apache.flink.table.api.ValidationException;

/**
 * Which columns of a table are in the keys of records, and which in their values.
 *
 * @param physical the columns of the table
 * @param keyFormat empty if records have no keys
 * @param keys the columns of the keys
 * @param keysInValues whether values have the columns of the keys, too
 */
record RecordColumns(
    Schema physical, Optional<FormatSettings> keyFormat, List<String> keys, boolean keysInValues) {
  private static final List<TableFormat> KEY_FORMATS =
      List.of(TableFormat.RAW, TableFormat.JSON, TableFormat.AVRO, TableFormat.AVRO_CONFLUENT);

  /**
   * Reads the options of keys.
   *
   * @throws ValidationException if one lacks another, or names a column that is not there
   */
  static RecordColumns of(Schema physical, TableOptions tableOptions) {
    ReadableConfig options = tableOptions.options();
    Optional<FormatSettings> keyFormat =
        tableOptions.format(KafkaConnectorOptions.KEY_FORMAT, KEY_FORMATS);
    List<String> keys = options.getOptional(KafkaConnectorOptions.KEY_FIELDS).orElse(List.of());
    if (keyFormat.isPresent() == keys.isEmpty()) {
      throw new ValidationException(
          "'%s' and '%s' need each other"
              .formatted(
                  KafkaConnectorOptions.KEY_FORMAT.key(), KafkaConnectorOptions.KEY_FIELDS.key()));
    }
    for (String key : keys) {
      if (!physical.names().contains(key)) {
        throw new ValidationException(
            "'%s' names the column '%s', which the table does not have"
                .formatted(KafkaConnectorOptions.KEY_FIELDS.key(), key));
      }
    }
    boolean inValues =
        options.get(KafkaConnectorOptions.VALUE_FIELDS_INCLUDE) == ValueFieldsStrategy.ALL;
    return new RecordColumns(physical, keyFormat, keys, inValues);
  }

  /** The columns that values have. */
  Schema values() {
    return keysInValues
        ? physical
        : physical.select(physical.names().stream().filter(name -> !keys.contains(name)).toList());
  }

  /**
   * Checks that the columns can be read.
   *
   * @throws ValidationException if keys are read that are not the bytes of one column, or values
   *     have no column
   */
  void checkReading() {
    checkRawKey();
    if (keysInValues) {
      return;
    }
    if (keyFormat.isPresent() && !hasRawKey()) {
      throw new ValidationException(
          "'%s' = '%s' is not supported for sources, only 'raw' is, unless '%s' = 'ALL'"
              .formatted(
                  KafkaConnectorOptions.KEY_FORMAT.key(),
                  keyFormat.get(),
                  KafkaConnectorOptions.VALUE_FIELDS_INCLUDE.key()));
    }
    if (values().size() == 0) {
      throw new ValidationException("expected a column that is not in the key");
    }
  }

  /** Whether a key is the bytes of one column. */
  boolean hasRawKey() {
    return keyFormat.map(FormatSettings::format).filter(TableFormat.RAW::equals).isPresent();
  }

  /** Whether keys have one column, of STRING or BYTES. */
  boolean isKeyOfBytes() {
    return keys.size() == 1 && physical.type(physical.indexOf(keys.get(0))).id().isVariableWidth();
  }

  /**
   * Checks that raw keys have one column of bytes.
   *
   * @throws ValidationException otherwise
   */
  void checkRawKey() {
    if (hasRawKey() && !isKeyOfBytes()) {
      throw new ValidationException(
          "keys of the format 'raw' have one column of STRING or BYTES, got " + keys);
    }
  }
}
