// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordWriter;
import io.millrace.format.TimestampFormat;
import io.millrace.format.json.JsonSteps;
import io.millrace.format.write.PlanWriter;
import io.millrace.format.write.WritePlan;
import io.millrace.memory.MemoryResource;
import java.util.Optional;

/**
 * Writes rows as lines of CSV, as in RFC 4180 but with a line feed alone at a line's end. Each
 * column has a field, in the order of the schema. A null is an empty field, an empty string one
 * between quotes. A field is between quotes if it has a delimiter, a quote, which is doubled, a
 * line feed or a carriage return.
 *
 * <p>Values have the text that {@link io.millrace.format.json.JsonWriter} writes, without the
 * quotes and escapes of JSON; an ARRAY and a ROW are JSON.
 *
 * <p>On the host and on a GPU the bytes are the same. Used by one thread.
 */
@PublicEvolving
public final class CsvWriter implements RecordWriter {
  // What the text of numbers, booleans and times may have beside letters and digits.
  private static final String PLAIN_CHARACTERS = "+-.: ";
  private static final byte[] NO_TEXT = {};

  private final PlanWriter writer;

  /**
   * @param delimiter between fields: an ASCII character other than a quote, a line feed and a
   *     carriage return
   * @param stream of the tables and records; stays open as long as the writer
   * @param memory of the records
   * @throws IllegalArgumentException if {@link #unsupported} says why the rows cannot be written,
   *     or the delimiter is not one
   */
  public CsvWriter(Schema schema, char delimiter, DeviceStream stream, MemoryResource memory) {
    this(schema, delimiter, TimestampFormat.ISO_8601, stream, memory);
  }

  /**
   * As the other constructor, with a form of timestamps.
   *
   * @throws IllegalArgumentException as the other constructor
   */
  public CsvWriter(
      Schema schema,
      char delimiter,
      TimestampFormat timestamps,
      DeviceStream stream,
      MemoryResource memory) {
    if (delimiter >= 0x80 || delimiter == '"' || delimiter == '\n' || delimiter == '\r') {
      throw new IllegalArgumentException("fields cannot be delimited by '" + delimiter + "'");
    }
    writer = new PlanWriter(plan(schema, delimiter, timestamps), stream, memory);
  }

  /**
   * Why rows cannot be written; empty if they can. Those with a MAP, or with more than 8 lists and
   * dictionaries in each other, cannot.
   */
  public static Optional<String> unsupported(Schema schema) {
    return WritePlan.unsupported(schema);
  }

  /**
   * Checks columns before there is a device to write them on.
   *
   * @throws IllegalArgumentException if {@link #unsupported} says why rows cannot be written
   */
  public static void checkSupported(Schema schema) {
    WritePlan.checkSupported(schema);
  }

  private static WritePlan plan(Schema schema, char delimiter, TimestampFormat timestamps) {
    WritePlan.Builder plan = new WritePlan.Builder(schema, delimiter, timestamps);
    boolean isFirst = true;
    for (Field field : schema.fields()) {
      if (!isFirst) {
        plan.text(delimiter);
      }
      isFirst = false;
      addNullable(plan, field, delimiter);
    }
    return plan.text('\n').build();
  }

  private static void addNullable(WritePlan.Builder plan, Field field, char delimiter) {
    int column = plan.nextColumn();
    if (field.nullable()) {
      plan.nullable(column, NO_TEXT, () -> addField(plan, column, field.type(), delimiter));
    } else {
      addField(plan, column, field.type(), delimiter);
    }
  }

  private static void addField(WritePlan.Builder plan, int column, DataType type, char delimiter) {
    switch (type.id()) {
      case DICTIONARY ->
          plan.dictionary(column, () -> addNullable(plan, type.fields().get(0), delimiter));
      case LIST, STRUCT -> plan.field(column, () -> JsonSteps.addValue(plan, column, type));
      case STRING, BINARY -> plan.field(column, () -> plan.scalar(column, type, false));
      default -> {
        if (Character.isLetterOrDigit(delimiter) || PLAIN_CHARACTERS.indexOf(delimiter) >= 0) {
          plan.field(column, () -> plan.scalar(column, type, false));
        } else {
          plan.scalar(column, type, false);
        }
      }
    }
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
