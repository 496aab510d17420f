// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordWriter;
import io.millrace.format.write.PlanWriter;
import io.millrace.format.write.WritePlan;
import io.millrace.memory.MemoryResource;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * Writes rows as records of Avro's binary encoding, a datum each, that {@link AvroReader} reads
 * back. A datum is a record with a field for each column, in the order of the schema.
 *
 * <p>TINYINT, SMALLINT and INT are an int, BIGINT is a long. DATE and TIME are an int of days and
 * of milliseconds, TIMESTAMP and TIMESTAMP_LTZ a long of milliseconds for precisions up to 3, and
 * of microseconds up to 6. A DECIMAL is bytes with the unscaled value, a STRING is a string, BINARY
 * is bytes, an ARRAY an array and a ROW a record. What may be null is a union of null and the type,
 * in this order.
 *
 * <p>On the host and on a GPU the bytes are the same. Used by one thread.
 */
@PublicEvolving
public final class AvroWriter implements RecordWriter {
  private static final byte[] NULL_BRANCH = {0};
  private static final char VALUE_BRANCH = 2;

  private final PlanWriter writer;

  /**
   * Writes datums alone.
   *
   * @param stream of the tables and records; stays open as long as the writer
   * @param memory of the records
   * @throws IllegalArgumentException if {@link #unsupported} says why the rows cannot be written
   */
  public AvroWriter(Schema schema, DeviceStream stream, MemoryResource memory) {
    this(schema, new byte[0], stream, memory);
  }

  /**
   * Writes datums behind the id of their schema, as in the wire format of Confluent: a zero, and 4
   * bytes with the highest one first.
   *
   * @param stream of the tables and records; stays open as long as the writer
   * @param memory of the records
   * @throws IllegalArgumentException if {@link #unsupported} says why the rows cannot be written
   */
  public AvroWriter(Schema schema, int schemaId, DeviceStream stream, MemoryResource memory) {
    this(
        schema,
        ByteBuffer.allocate(1 + Integer.BYTES).put((byte) 0).putInt(schemaId).array(),
        stream,
        memory);
  }

  private AvroWriter(Schema schema, byte[] prefix, DeviceStream stream, MemoryResource memory) {
    checkSupported(schema);
    WritePlan.Builder plan = new WritePlan.Builder(schema, ',').text(prefix);
    addFields(plan, schema.fields());
    writer = new PlanWriter(plan.build(), stream, memory);
  }

  private static void addFields(WritePlan.Builder plan, List<Field> fields) {
    fields.forEach(field -> addNullable(plan, field));
  }

  private static void addNullable(WritePlan.Builder plan, Field field) {
    int column = plan.nextColumn();
    if (field.nullable()) {
      plan.nullable(column, NULL_BRANCH, () -> addBranch(plan, column, field.type()));
    } else {
      addValue(plan, column, field.type());
    }
  }

  // The value of a dictionary that may be null itself says so.
  private static void addBranch(WritePlan.Builder plan, int column, DataType type) {
    if (type.id() != TypeId.DICTIONARY || !type.fields().get(0).nullable()) {
      plan.text(VALUE_BRANCH);
    }
    addValue(plan, column, type);
  }

  private static void addValue(WritePlan.Builder plan, int column, DataType type) {
    switch (type.id()) {
      case STRUCT -> addFields(plan, type.fields());
      case LIST -> plan.blocks(column, () -> addNullable(plan, type.fields().get(0)));
      case DICTIONARY -> plan.dictionary(column, () -> addNullable(plan, type.fields().get(0)));
      default -> plan.binary(column, type);
    }
  }

  /**
   * Why rows cannot be written; empty if they can. TIMESTAMPs of a precision above 6 cannot, nor
   * more than 8 lists and dictionaries in each other.
   */
  public static Optional<String> unsupported(Schema schema) {
    return schema.fields().stream()
        .filter(field -> hasNanos(field.type()))
        .findFirst()
        .map(field -> "column '" + field.name() + "' has timestamps of a precision above 6")
        .or(() -> WritePlan.unsupported(schema));
  }

  private static boolean hasNanos(DataType type) {
    return type.id() == TypeId.TIMESTAMP_NANOS
        || type.fields().stream().anyMatch(field -> hasNanos(field.type()));
  }

  /**
   * Checks columns before there is a device to write them on.
   *
   * @throws IllegalArgumentException if {@link #unsupported} says why rows cannot be written
   */
  public static void checkSupported(Schema schema) {
    unsupported(schema)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException("rows cannot be written as Avro: " + why);
            });
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException if the table has another schema
   * @throws GpuOutOfMemoryException also if there are more than 2^31 - 16 bytes or 2^30 records
   */
  @Override
  public RecordBytes write(Table table) {
    return writer.write(table);
  }

  /** Frees what the writer keeps for further tables. */
  @Override
  public void close() {
    writer.close();
  }
}
