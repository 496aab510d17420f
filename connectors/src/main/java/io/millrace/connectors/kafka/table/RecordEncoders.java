// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.table;

import io.millrace.column.Schema;
import io.millrace.connectors.kafka.sink.ArrowRecordEncoder;
import io.millrace.connectors.kafka.sink.AvroRecordEncoder;
import io.millrace.connectors.kafka.sink.CsvRecordEncoder;
import io.millrace.connectors.kafka.sink.JsonRecordEncoder;
import io.millrace.connectors.kafka.sink.RawRecordEncoder;
import io.millrace.connectors.kafka.sink.RecordEncoder;
import io.millrace.connectors.table.FormatSettings;
import io.millrace.connectors.table.TableFormat;
import io.millrace.format.TimestampFormat;
import org.apache.flink.table.api.ValidationException;

/** The encoders of formats. */
final class RecordEncoders {
  private RecordEncoders() {}

  /**
   * The encoder of a table's records.
   *
   * @param topic names the subjects of schemas in a registry
   * @throws ValidationException if the format is not written, or not with these columns or keys
   */
  static RecordEncoder of(RecordColumns columns, FormatSettings value, String topic) {
    value.checkWriting(topic + "-value");
    columns.keyFormat().ifPresent(key -> key.checkWriting(topic + "-key"));
    columns.checkRawKey();
    checkKeyFormat(columns, value);
    Schema schema = columns.physical();
    String[] keys = columns.keys().toArray(String[]::new);
    try {
      return switch (value.format()) {
        case JSON -> {
          JsonRecordEncoder encoder =
              JsonRecordEncoder.of(schema).withKey(keys).withTimestamps(value.timestamps());
          yield columns.keysInValues() ? encoder : encoder.withoutKeyInValue();
        }
        case CSV -> {
          CsvRecordEncoder encoder =
              CsvRecordEncoder.of(schema, value.quotes().delimiter())
                  .withKey(keys)
                  .withTimestamps(TimestampFormat.SQL);
          yield columns.keysInValues() ? encoder : encoder.withoutKeyInValue();
        }
        case AVRO, AVRO_CONFLUENT -> {
          AvroRecordEncoder encoder = AvroRecordEncoder.of(schema).withKey(keys);
          AvroRecordEncoder all = columns.keysInValues() ? encoder : encoder.withoutKeyInValue();
          yield value.format() == TableFormat.AVRO
              ? all
              : all.withRegistry(value.registry(), topic);
        }
        case RAW -> raw(columns);
        case ARROW -> ArrowRecordEncoder.create();
        default ->
            throw new ValidationException(
                "'%s' does not write the format '%s'"
                    .formatted(KafkaTableFactory.IDENTIFIER, value.format().identifier()));
      };
    } catch (IllegalArgumentException e) {
      throw new ValidationException(e.getMessage(), e);
    }
  }

  private static RecordEncoder raw(RecordColumns columns) {
    Schema values = columns.values();
    if (values.size() != 1) {
      throw new ValidationException(
          "values of the format 'raw' have one column, got " + values.names());
    }
    RawRecordEncoder encoder = RawRecordEncoder.of(columns.physical(), values.names().get(0));
    return columns.keys().isEmpty() ? encoder : encoder.withKey(columns.keys().get(0));
  }

  // An encoder writes keys in the format of values, unless a key is the bytes of one column.
  private static void checkKeyFormat(RecordColumns columns, FormatSettings value) {
    if (columns.keyFormat().isEmpty()) {
      return;
    }
    if (value.format() == TableFormat.RAW && columns.hasRawKey()) {
      return;
    }
    if (value.format() == TableFormat.ARROW) {
      throw new ValidationException("records of the format 'arrow' have no keys");
    }
    FormatSettings key = columns.keyFormat().get();
    if (!columns.hasRawKey() && (columns.isKeyOfBytes() || key.format() != value.format())) {
      throw new ValidationException(
          "'key.format' = '%s' is not supported: one column of STRING or BYTES is written as 'raw', and others in the format of the value"
              .formatted(key.format().identifier()));
    }
    if (!columns.hasRawKey()) {
      key.checkWritesAs(value);
    }
  }
}
