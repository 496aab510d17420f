// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.avro;

import io.millrace.format.avro.AvroType;
import io.millrace.format.avro.AvroType.Kind;
import io.millrace.format.avro.AvroType.LogicalType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.flink.annotation.PublicEvolving;

/** Reads the schemas that records were written with. */
@PublicEvolving
public final class WriterSchemas {
  private static final String LOCAL = "local-";

  // A name stands for the whole type, so a short schema may have more types than fit in memory.
  private static final int MAX_TYPES = 1 << 16;
  private static final int MAX_DEPTH = 128;

  // The records around the type that is converted.
  private final Set<String> open = new HashSet<>();
  private int types;
  private int depth;

  private WriterSchemas() {}

  /**
   * Reads a schema.
   *
   * @param text JSON, as Avro has it
   * @throws IllegalArgumentException if it is not a schema, a type of it contains itself, or it has
   *     more than 65536 types, each as often as it is named, or more than 128 in each other
   */
  public static AvroType parse(String text) {
    Schema schema;
    try {
      schema = new Schema.Parser().parse(text);
    } catch (RuntimeException e) {
      // Not only Avro's own exceptions: its parser trusts some attributes to have their types.
      throw new IllegalArgumentException("expected a schema of Avro: " + e.getMessage(), e);
    }
    return new WriterSchemas().type(schema);
  }

  private AvroType type(Schema schema) {
    types++;
    depth++;
    if (types > MAX_TYPES) {
      throw new IllegalArgumentException(
          "schemas of more than " + MAX_TYPES + " types, with those of named ones, are not read");
    }
    if (depth > MAX_DEPTH) {
      throw new IllegalArgumentException(
          "schemas of more than " + MAX_DEPTH + " types in each other are not read");
    }
    AvroType type = converted(schema);
    depth--;
    return type;
  }

  private AvroType converted(Schema schema) {
    return switch (schema.getType()) {
      case NULL -> AvroType.of(Kind.NULL);
      case BOOLEAN -> AvroType.of(Kind.BOOLEAN);
      case INT -> logical(schema, AvroType.of(Kind.INT));
      case LONG -> logical(schema, AvroType.of(Kind.LONG));
      case FLOAT -> AvroType.of(Kind.FLOAT);
      case DOUBLE -> AvroType.of(Kind.DOUBLE);
      case STRING -> AvroType.of(Kind.STRING);
      case BYTES -> decimal(schema, AvroType.of(Kind.BYTES));
      case FIXED -> decimal(schema, AvroType.fixed(schema.getFixedSize()));
      case ENUM -> AvroType.enumOf(schema.getEnumSymbols());
      case ARRAY -> AvroType.array(type(schema.getElementType()));
      case MAP -> AvroType.map(type(schema.getValueType()));
      case UNION -> AvroType.union(schema.getTypes().stream().map(this::type).toList());
      case RECORD -> record(schema);
    };
  }

  private AvroType record(Schema schema) {
    if (!open.add(schema.getFullName())) {
      throw new IllegalArgumentException(
          "records that contain themselves are not read: " + schema.getFullName());
    }
    List<AvroType.Field> fields = new ArrayList<>();
    for (Schema.Field field : schema.getFields()) {
      fields.add(new AvroType.Field(field.name(), type(field.schema())));
    }
    open.remove(schema.getFullName());
    return AvroType.record(fields);
  }

  // By name: not all of them are known to all versions of Avro's library.
  private static AvroType logical(Schema schema, AvroType type) {
    String name = schema.getProp("logicalType");
    if (name == null) {
      return type;
    }
    String meaning = name.startsWith(LOCAL) ? name.substring(LOCAL.length()) : name;
    boolean isInt = type.kind() == Kind.INT;
    LogicalType logical =
        switch (meaning) {
          case "date" -> isInt ? LogicalType.DATE : LogicalType.NONE;
          case "time-millis" -> isInt ? LogicalType.TIME_MILLIS : LogicalType.NONE;
          case "time-micros" -> isInt ? LogicalType.NONE : LogicalType.TIME_MICROS;
          case "timestamp-millis" -> isInt ? LogicalType.NONE : LogicalType.TIMESTAMP_MILLIS;
          case "timestamp-micros" -> isInt ? LogicalType.NONE : LogicalType.TIMESTAMP_MICROS;
          case "timestamp-nanos" -> isInt ? LogicalType.NONE : LogicalType.TIMESTAMP_NANOS;
          default -> LogicalType.NONE;
        };
    return type.withLogicalType(logical);
  }

  private static AvroType decimal(Schema schema, AvroType type) {
    return schema.getLogicalType() instanceof LogicalTypes.Decimal decimal
        ? type.decimal(decimal.getScale())
        : type;
  }
}
