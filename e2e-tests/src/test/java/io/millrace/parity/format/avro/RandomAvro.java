// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format.avro;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;

/** Random schemas of Avro, columns that are read from their records, and random values. */
final class RandomAvro {
  private static final int MAX_DEPTH = 3;
  private static final String LETTERS = "abcé€😀 ";

  private final Random random;
  private int records;

  /**
   * A type and what it is read as.
   *
   * @param column null if it is skipped
   */
  private record Choice(Schema schema, DataType column) {}

  /** A schema of a record and the columns that are read. */
  record Records(Schema schema, List<Field> columns) {}

  RandomAvro(Random random) {
    this.random = random;
  }

  /** A schema that has at least one column. */
  Records records() {
    for (; ; ) {
      Records drawn = record(0);
      if (!drawn.columns().isEmpty()) {
        return drawn;
      }
    }
  }

  private Records record(int depth) {
    List<Schema.Field> fields = new ArrayList<>();
    List<Field> columns = new ArrayList<>();
    for (int i = 1 + random.nextInt(depth == 0 ? 12 : 3); i > 0; i--) {
      String name = "f" + fields.size();
      Choice choice = choice(depth);
      Schema schema = choice.schema();
      boolean isNullable = random.nextBoolean() && !schema.isUnion();
      if (isNullable) {
        Schema none = Schema.create(Schema.Type.NULL);
        schema =
            random.nextBoolean()
                ? Schema.createUnion(none, schema)
                : Schema.createUnion(schema, none);
      }
      fields.add(new Schema.Field(name, schema));
      if (choice.column() != null && random.nextInt(4) > 0) {
        boolean mayBeNull = schema.isUnion() || random.nextBoolean();
        columns.add(
            random.nextInt(columns.size() + 1), new Field(name, choice.column(), mayBeNull));
      }
    }
    if (random.nextInt(4) == 0) {
      columns.add(Field.of("missing", DataType.STRING));
    }
    String name = "r" + records++;
    return new Records(Schema.createRecord(name, null, null, false, fields), columns);
  }

  private Choice choice(int depth) {
    int kinds = depth < MAX_DEPTH ? 19 : 15;
    return switch (random.nextInt(kinds)) {
      case 0 -> new Choice(of(Schema.Type.BOOLEAN), DataType.BOOL);
      case 1 ->
          new Choice(
              of(Schema.Type.INT),
              oneOf(DataType.INT32, DataType.INT64, DataType.FLOAT32, DataType.FLOAT64));
      case 2 ->
          new Choice(
              of(Schema.Type.LONG), oneOf(DataType.INT64, DataType.FLOAT32, DataType.FLOAT64));
      case 3 -> new Choice(of(Schema.Type.FLOAT), oneOf(DataType.FLOAT32, DataType.FLOAT64));
      case 4 -> new Choice(of(Schema.Type.DOUBLE), DataType.FLOAT64);
      case 5 -> new Choice(of(Schema.Type.STRING), oneOf(DataType.STRING, DataType.BINARY));
      case 6 -> new Choice(of(Schema.Type.BYTES), oneOf(DataType.STRING, DataType.BINARY));
      case 7 -> new Choice(of(Schema.Type.INT, LogicalTypes.date()), DataType.DATE);
      case 8 -> new Choice(of(Schema.Type.INT, LogicalTypes.timeMillis()), DataType.TIME);
      case 9 -> timestamp(depth);
      // Flink reads them as milliseconds.
      case 10 -> new Choice(of(Schema.Type.LONG, LogicalTypes.timestampMicros()), null);
      case 11 -> decimal();
      case 12 -> new Choice(enumOf(), null);
      // Elements without bytes would keep the library busy for as many as a damaged number says.
      case 13 ->
          new Choice(SchemaBuilder.fixed("x" + records++).size(1 + random.nextInt(12)), null);
      case 14 -> new Choice(union(), DataType.INT64);
      case 15 -> array(depth);
      case 16 -> new Choice(Schema.createMap(choice(depth + 1).schema()), null);
      default -> {
        Records inner = record(depth + 1);
        Field[] columns = inner.columns().toArray(Field[]::new);
        yield new Choice(inner.schema(), columns.length == 0 ? null : DataType.struct(columns));
      }
    };
  }

  private Choice array(int depth) {
    Choice element = choice(depth + 1);
    Schema none = Schema.create(Schema.Type.NULL);
    boolean isNullable = random.nextBoolean() && !element.schema().isUnion();
    return new Choice(
        Schema.createArray(
            isNullable ? Schema.createUnion(none, element.schema()) : element.schema()),
        element.column() == null ? null : DataType.list(element.column()));
  }

  private static Schema of(Schema.Type type) {
    return Schema.create(type);
  }

  private static Schema of(Schema.Type type, LogicalType logical) {
    return logical.addToSchema(Schema.create(type));
  }

  private DataType oneOf(DataType... types) {
    return types[random.nextInt(types.length)];
  }

  // Flink reads no instants within a ROW.
  private Choice timestamp(int depth) {
    return depth == 0 && random.nextBoolean()
        ? new Choice(
            of(Schema.Type.LONG, LogicalTypes.timestampMillis()), DataType.timestamp(3, true))
        : new Choice(
            of(Schema.Type.LONG, LogicalTypes.localTimestampMillis()), DataType.timestamp(3));
  }

  private Choice decimal() {
    int precision = 1 + random.nextInt(38);
    int scale = random.nextInt(precision + 1);
    return new Choice(
        of(Schema.Type.BYTES, LogicalTypes.decimal(precision, scale)),
        DataType.decimal(precision, scale));
  }

  private Schema enumOf() {
    return SchemaBuilder.enumeration("e" + records++).symbols("A", "B", "C");
  }

  // The column takes two of the branches, and null.
  private Schema union() {
    return Schema.createUnion(
        of(Schema.Type.INT),
        of(Schema.Type.NULL),
        of(Schema.Type.LONG),
        of(Schema.Type.STRING),
        enumOf());
  }

  /** A value of a schema, as Avro's library writes it. */
  Object value(Schema schema) {
    return switch (schema.getType()) {
      case NULL -> null;
      case BOOLEAN -> random.nextBoolean();
      case INT -> integer(schema);
      case LONG -> random.nextLong() >> random.nextInt(Long.SIZE);
      case FLOAT -> Float.intBitsToFloat(random.nextInt());
      case DOUBLE -> Double.longBitsToDouble(random.nextLong());
      case STRING -> string();
      case BYTES -> bytes(schema);
      case FIXED -> new GenericData.Fixed(schema, randomBytes(schema.getFixedSize()));
      case ENUM ->
          new GenericData.EnumSymbol(schema, schema.getEnumSymbols().get(random.nextInt(3)));
      case UNION -> value(schema.getTypes().get(random.nextInt(schema.getTypes().size())));
      case ARRAY -> {
        List<Object> elements = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          elements.add(value(schema.getElementType()));
        }
        yield new GenericData.Array<>(schema, elements);
      }
      case MAP -> {
        Map<String, Object> values = new HashMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          values.put(string(), value(schema.getValueType()));
        }
        yield values;
      }
      case RECORD -> {
        GenericData.Record record = new GenericData.Record(schema);
        schema.getFields().forEach(field -> record.put(field.pos(), value(field.schema())));
        yield record;
      }
    };
  }

  private int integer(Schema schema) {
    return schema.getLogicalType() instanceof LogicalTypes.TimeMillis
        ? random.nextInt(86_400_000)
        : random.nextInt() >> random.nextInt(Integer.SIZE);
  }

  private String string() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(random.nextInt(20) == 0 ? 300 : 9); i > 0; i--) {
      int at = random.nextInt(LETTERS.codePointCount(0, LETTERS.length()));
      text.appendCodePoint(LETTERS.codePointAt(LETTERS.offsetByCodePoints(0, at)));
    }
    return text.toString();
  }

  private ByteBuffer bytes(Schema schema) {
    if (schema.getLogicalType() instanceof LogicalTypes.Decimal decimal) {
      BigInteger bound = BigInteger.TEN.pow(decimal.getPrecision());
      BigInteger value = new BigInteger(random.nextInt(128), random).mod(bound);
      return ByteBuffer.wrap((random.nextBoolean() ? value : value.negate()).toByteArray());
    }
    return ByteBuffer.wrap(string().getBytes(StandardCharsets.UTF_8));
  }

  private byte[] randomBytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }
}
