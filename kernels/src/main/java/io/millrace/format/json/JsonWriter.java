// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordWriter;
import io.millrace.format.TimestampFormat;
import io.millrace.format.write.PlanWriter;
import io.millrace.format.write.WritePlan;
import io.millrace.memory.MemoryResource;
import java.util.Optional;

/**
 * Writes rows as lines of JSON, an object each, that {@link JsonReader} reads back. Each column has
 * a member, in the order of the schema; nulls are written.
 *
 * <p>BOOLEAN, integers and decimals, and finite numbers of FLOAT and DOUBLE, are written as such;
 * NaN and the infinities as strings. Dates, times and timestamps are strings of ISO 8601 unless a
 * {@link TimestampFormat} says otherwise, with as many digits of the second as their type has,
 * TIMESTAMP_LTZ with Z behind it; BINARY is a string of Base64. A STRING has escapes for quotes,
 * backslashes and control characters; its other bytes are written as they are. An ARRAY is an
 * array, a ROW an object. FLOAT and DOUBLE have the fewest digits that read back to the same
 * number, in the form of {@link Double#toString(double)}.
 *
 * <p>On the host and on a GPU the bytes are the same. Used by one thread.
 */
@PublicEvolving
public final class JsonWriter implements RecordWriter {
  private final PlanWriter writer;

  /**
   * @param stream of the tables and records; stays open as long as the writer
   * @param memory of the records
   * @throws IllegalArgumentException if {@link #unsupported} says why the rows cannot be written
   */
  public JsonWriter(Schema schema, DeviceStream stream, MemoryResource memory) {
    this(schema, TimestampFormat.ISO_8601, stream, memory);
  }

  /**
   * As the other constructor, with a form of timestamps.
   *
   * @throws IllegalArgumentException as the other constructor
   */
  public JsonWriter(
      Schema schema, TimestampFormat timestamps, DeviceStream stream, MemoryResource memory) {
    WritePlan.Builder plan = new WritePlan.Builder(schema, ',', timestamps);
    JsonSteps.addObject(plan, schema.fields());
    writer = new PlanWriter(plan.text('\n').build(), stream, memory);
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
