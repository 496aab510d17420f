// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format.avro;

import io.millrace.operators.row.SchemaConverter;
import io.millrace.parity.FlinkValues;
import io.millrace.parity.format.RecordResult;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SystemLimitException;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.formats.avro.AvroRowDataDeserializationSchema;
import org.apache.flink.formats.avro.AvroToRowDataConverters;
import org.apache.flink.formats.avro.RegistryAvroDeserializationSchema;
import org.apache.flink.formats.avro.SchemaCoder;
import org.apache.flink.formats.avro.typeutils.AvroSchemaConverter;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;

/**
 * Reads records with Flink's format {@code avro-confluent}, whose registry gives one schema for all
 * records: with {@code timestamp_mapping.legacy} = {@code false}.
 */
final class FlinkAvro {
  private static final String MAX_BYTES = "65536";
  private static final String MAX_ELEMENTS = "65536";

  private final RowType type;
  private final Schema readerSchema;
  private final String writer;

  FlinkAvro(io.millrace.column.Schema columns, Schema writer) {
    // Damaged lengths would otherwise ask for gigabytes.
    System.setProperty(SystemLimitException.MAX_BYTES_LENGTH_PROPERTY, MAX_BYTES);
    System.setProperty(SystemLimitException.MAX_STRING_LENGTH_PROPERTY, MAX_BYTES);
    System.setProperty(SystemLimitException.MAX_COLLECTION_LENGTH_PROPERTY, MAX_ELEMENTS);
    this.type = SchemaConverter.toRowType(columns);
    this.readerSchema = AvroSchemaConverter.convertToSchema(type.copy(false), false);
    this.writer = writer.toString();
  }

  /** Gives the schema without reading an id. */
  private record FixedCoder(String schema) implements SchemaCoder {
    @Override
    public Schema readSchema(InputStream in) {
      return new Schema.Parser().parse(schema);
    }

    @Override
    public void writeSchema(Schema written, OutputStream out) {
      throw new UnsupportedOperationException("reads only");
    }
  }

  // A format for each record: one that failed leaves bytes to the next.
  private AvroRowDataDeserializationSchema format() {
    String text = writer;
    return new AvroRowDataDeserializationSchema(
        new RegistryAvroDeserializationSchema<>(
            GenericRecord.class, readerSchema, () -> new FixedCoder(text)),
        AvroToRowDataConverters.createRowConverter(type, false),
        InternalTypeInfo.of(type));
  }

  RecordResult read(byte[] record) throws Exception {
    AvroRowDataDeserializationSchema format = format();
    // The format does not use the context.
    format.open(null);
    try {
      RowData row = format.deserialize(record);
      return RecordResult.of(
          row == null ? List.of() : List.of(FlinkValues.of(row, type.getChildren())));
    } catch (IOException | RuntimeException e) {
      return RecordResult.malformed(e.toString());
    }
  }
}
