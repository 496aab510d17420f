// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RecordKernels;
import io.millrace.format.record.TableReader;
import io.millrace.memory.MemoryResource;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Reads records of JSON, one object each, into columns. A member belongs to the column of its name;
 * one that is missing or null is null, and one without a column is skipped. A record of white space
 * alone is skipped.
 *
 * <p>A value must be what its column is: booleans and numbers as such (decimals, NaN and the
 * infinities also as strings), strings as strings, and dates, times and timestamps as strings of
 * ISO 8601, of the years 0000 to 9999, bytes as a string of Base64 with padding, an ARRAY as an
 * array, a ROW as an object. Digits of a decimal beyond its scale are rounded half up, and digits
 * of a second beyond the precision are dropped; FLOAT and DOUBLE are the nearest to the number. A
 * record with anything else is malformed, as is one with a number out of range, a column that is
 * there twice, text that is not UTF-8, or a null or a missing member where the column may not be
 * null. Half of a surrogate pair becomes a question mark, as in Java. A string with escapes is a
 * decimal only if it has at most 64 bytes without them.
 *
 * <p>On the host and on a GPU the rows are the same bits. Used by one thread.
 */
@PublicEvolving
public final class JsonReader implements RecordReader {
  private static final PerDevice<RecordKernels> KERNELS = RecordKernels.ofModule("json");
  private static final Set<TypeId> TYPES = EnumSet.complementOf(EnumSet.of(TypeId.DICTIONARY));

  private final TableReader reader;

  /**
   * @param stream of the records and results; stays open as long as the reader
   * @param memory of results
   * @throws IllegalArgumentException if {@link #unsupported} says why the columns cannot be read
   */
  public JsonReader(Schema schema, DeviceStream stream, MemoryResource memory) {
    this(schema, Optional.empty(), stream, memory);
  }

  /**
   * As the other constructor, for the rows that a filter keeps.
   *
   * @param filter empty to keep all rows
   * @throws IllegalArgumentException also if {@link RecordFilter#unsupported} says why the rows
   *     cannot be filtered
   */
  public JsonReader(
      Schema schema, Optional<RecordFilter> filter, DeviceStream stream, MemoryResource memory) {
    checkSupported(schema);
    RecordFields fields = RecordFields.of(schema);
    reader =
        new TableReader(
            schema,
            fields,
            filter,
            new JsonFormat(fields, false),
            KERNELS.of(stream.device()),
            stream,
            memory);
  }

  /**
   * Why columns cannot be read; empty if they can. Dictionaries cannot, and there are at most 127
   * columns, with the fields of ROWs, and as many fields in the elements of an ARRAY.
   */
  public static Optional<String> unsupported(Schema schema) {
    return RecordFields.unsupported(schema, TYPES);
  }

  /**
   * Checks columns before there is a device to read them on.
   *
   * @throws IllegalArgumentException if {@link #unsupported} says why they cannot be read
   */
  public static void checkSupported(Schema schema) {
    unsupported(schema)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException("JSON cannot be read into columns: " + why);
            });
  }

  @Override
  public ParsedRecords read(RecordBytes records) {
    return reader.read(records);
  }

  /** Frees what the reader keeps for further records. */
  @Override
  public void close() {
    reader.close();
  }
}
