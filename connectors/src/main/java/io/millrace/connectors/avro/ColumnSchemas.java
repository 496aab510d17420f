// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.avro;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.TypeId;
import io.millrace.format.avro.AvroWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.flink.annotation.PublicEvolving;

/** Gives the schemas of what {@link AvroWriter} writes. */
@PublicEvolving
public final class ColumnSchemas {
  /** The name of the outermost record. */
  private static final String RECORD = "record";

  // Of records: two paths of names may be the same with underscores.
  private final Set<String> names = new HashSet<>();

  private ColumnSchemas() {}

  /**
   * The schema of rows, as JSON. Records within the record are named after it and their fields,
   * with underscores between, and further ones behind a name that is taken.
   *
   * @throws IllegalArgumentException if {@link AvroWriter#unsupported} says why the rows cannot be
   *     written, or a column has a name that Avro does not allow
   */
  public static String text(io.millrace.column.Schema columns) {
    AvroWriter.checkSupported(columns);
    try {
      return new ColumnSchemas().record(RECORD, columns.fields()).toString();
    } catch (AvroRuntimeException e) {
      throw new IllegalArgumentException("Avro does not allow a column: " + e.getMessage(), e);
    }
  }

  private Schema record(String path, List<Field> columns) {
    String name = path;
    while (!names.add(name)) {
      name += "_";
    }
    List<Schema.Field> fields = new ArrayList<>();
    for (Field column : columns) {
      Schema type = nullable(column, name + "_" + column.name());
      fields.add(new Schema.Field(column.name(), type));
    }
    return Schema.createRecord(name, null, null, false, fields);
  }

  private Schema nullable(Field column, String name) {
    Schema type = type(column.type(), name);
    return isNullable(column) ? Schema.createUnion(Schema.create(Schema.Type.NULL), type) : type;
  }

  private static boolean isNullable(Field column) {
    boolean isDictionary = column.type().id() == TypeId.DICTIONARY;
    return column.nullable() || (isDictionary && isNullable(column.type().fields().get(0)));
  }

  private Schema type(DataType type, String name) {
    return switch (type.id()) {
      case BOOL -> Schema.create(Schema.Type.BOOLEAN);
      case INT8, INT16, INT32 -> Schema.create(Schema.Type.INT);
      case INT64 -> Schema.create(Schema.Type.LONG);
      case FLOAT32 -> Schema.create(Schema.Type.FLOAT);
      case FLOAT64 -> Schema.create(Schema.Type.DOUBLE);
      case STRING -> Schema.create(Schema.Type.STRING);
      case BINARY -> Schema.create(Schema.Type.BYTES);
      case DATE -> logical(Schema.Type.INT, LogicalTypes.date());
      case TIME -> logical(Schema.Type.INT, LogicalTypes.timeMillis());
      case TIMESTAMP_MILLIS ->
          logical(
              Schema.Type.LONG,
              type.withTimeZone()
                  ? LogicalTypes.timestampMillis()
                  : LogicalTypes.localTimestampMillis());
      case TIMESTAMP_MICROS ->
          logical(
              Schema.Type.LONG,
              type.withTimeZone()
                  ? LogicalTypes.timestampMicros()
                  : LogicalTypes.localTimestampMicros());
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          logical(Schema.Type.BYTES, LogicalTypes.decimal(type.precision(), type.scale()));
      case STRUCT -> record(name, type.fields());
      case LIST -> Schema.createArray(nullable(type.fields().get(0), name));
      case DICTIONARY -> type(type.fields().get(0).type(), name);
      case TIMESTAMP_NANOS -> throw new IllegalArgumentException("unexpected type " + type);
    };
  }

  private static Schema logical(Schema.Type type, LogicalType logical) {
    return logical.addToSchema(Schema.create(type));
  }
}
