// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordReader;
import io.millrace.format.json.JsonKernels.Records;
import io.millrace.format.text.FloatingPoint;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.List;
import java.util.Optional;

/**
 * Reads records of JSON, one object each, into columns. A member belongs to the column of its name;
 * one that is missing or null is null, and one without a column is skipped. A record of white space
 * alone is skipped.
 *
 * <p>A value must be what its column is: booleans and numbers as such (decimals, NaN and the
 * infinities also as strings), strings as strings, and dates, times and timestamps as strings of
 * ISO 8601, of the years 0000 to 9999, a ROW as an object. Digits of a decimal beyond its scale are
 * rounded half up, and digits of a second beyond the precision are dropped; FLOAT and DOUBLE are
 * the nearest to the number. A record with anything else is malformed, as is one with a number out
 * of range, a column that is there twice, text that is not UTF-8, or a null or a missing member
 * where the column may not be null. Half of a surrogate pair becomes a question mark, as in Java. A
 * string with escapes is a decimal only if it has at most 64 bytes without them.
 *
 * <p>On the host and on a GPU the rows are the same bits. Used by one thread.
 */
@PublicEvolving
public final class JsonReader implements RecordReader {
  private final Schema schema;
  private final JsonFields fields;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final JsonKernels kernels;
  private Buffer plan;

  /**
   * @param stream of the records and results; stays open as long as the reader
   * @param memory of results
   * @throws IllegalArgumentException if {@link #unsupported} says why the columns cannot be read
   */
  public JsonReader(Schema schema, DeviceStream stream, MemoryResource memory) {
    this.schema = schema;
    this.fields = JsonFields.of(schema);
    this.stream = stream;
    this.memory = memory;
    this.kernels = JsonKernels.KERNELS.of(stream.device());
  }

  /**
   * Why columns cannot be read; empty if they can. BINARY, ARRAY and dictionaries cannot, and there
   * are at most 127 columns, with the fields of ROWs.
   */
  public static Optional<String> unsupported(Schema schema) {
    return JsonFields.unsupported(schema);
  }

  /**
   * Checks columns before there is a device to read them on.
   *
   * @throws IllegalArgumentException if {@link #unsupported} says why they cannot be read
   */
  public static void checkSupported(Schema schema) {
    JsonFields.check(schema);
  }

  @Override
  public ParsedRecords read(RecordBytes records) {
    int count = records.count();
    if (count == 0) {
      try (JsonColumns none = new JsonColumns(fields, 0, stream, memory);
          AccessScope scope = AccessScope.on(stream)) {
        return new ParsedRecords(noRows(none, scope));
      }
    }
    Buffer currentPlan = plan();
    long wordBytes = (long) count * Long.BYTES;
    long scratchBytes = kernels.scratchBytes(fields, count);
    int resultBytes = JsonKernels.resultBytes(fields);
    try (JsonColumns columns = new JsonColumns(fields, count, stream, memory);
        Buffer scratch = Buffer.allocate(wordBytes + scratchBytes, stream, memory);
        StagingBuffer result = stream.device().stagingPool().acquire(resultBytes);
        AccessScope scope = AccessScope.on(stream)) {
      long planAddress = currentPlan.access(AccessMode.READ, scope);
      long errors = scratch.access(AccessMode.WRITE, scope);
      Records input =
          new Records(
              fields,
              planAddress + powersBytes(),
              planAddress,
              address(records.bytes(), scope),
              records.positions().access(AccessMode.READ, scope),
              count,
              columns.targets(scope),
              errors,
              errors + wordBytes,
              result.address(),
              stream);
      kernels.parse(input);
      return finish(input, columns, scope);
    }
  }

  private static long address(Buffer bytes, AccessScope scope) {
    return bytes.size() == 0 ? 0 : bytes.access(AccessMode.READ, scope);
  }

  private Table noRows(JsonColumns none, AccessScope scope) {
    none.clearOffsets(scope);
    return none.take(schema, new int[fields.size()]);
  }

  private ParsedRecords finish(Records input, JsonColumns columns, AccessScope scope) {
    if (fields.strings() > 0) {
      kernels.copyStrings(input, columns.allocateStrings(input, scope));
    }
    int[] nullCounts = new int[fields.size()];
    for (int i = 0; i < nullCounts.length; i++) {
      nullCounts[i] = HostMemory.getInt(input.nullCount(i));
    }
    boolean hasUndecided = HostMemory.getInt(input.undecided()) > 0;
    if (nullCounts[0] == 0 && !hasUndecided) {
      return new ParsedRecords(columns.take(schema, nullCounts));
    }
    JsonFaults faults = new JsonFaults(input);
    if (hasUndecided) {
      faults.decide();
    }
    Table table = columns.take(schema, nullCounts);
    int[] valid = faults.valid();
    if (valid.length == input.count()) {
      return new ParsedRecords(table);
    }
    try (table) {
      List<MalformedRecord> malformed = faults.malformed();
      return new ParsedRecords(select(table, valid), malformed, valid);
    }
  }

  private Table select(Table table, int[] rows) {
    long bytes = (long) rows.length * Integer.BYTES;
    try (StagingBuffer staged = stream.device().stagingPool().acquire(Math.max(1, bytes))) {
      for (int i = 0; i < rows.length; i++) {
        HostMemory.putInt(staged.address() + (long) i * Integer.BYTES, rows[i]);
      }
      Buffer copy = Buffer.copyOf(staged.address(), bytes, stream, memory);
      try (Column map = new Column(DataType.INT32, rows.length, 0, copy, null, List.of())) {
        Table selected = Gather.gather(table, map, stream, memory);
        stream.synchronize();
        return selected;
      }
    }
  }

  private static long powersBytes() {
    return (long) FloatingPoint.powersOfFiveWords() * Long.BYTES;
  }

  private Buffer plan() {
    if (plan == null) {
      long bytes = powersBytes() + fields.bytes();
      try (StagingBuffer staged = stream.device().stagingPool().acquire(bytes)) {
        FloatingPoint.writePowersOfFive(staged.address());
        fields.write(staged.address() + powersBytes());
        plan = Buffer.copyOf(staged.address(), bytes, stream, memory);
        stream.synchronize();
      }
    }
    return plan;
  }

  /** Frees what the reader keeps for further records. */
  @Override
  public void close() {
    if (plan != null) {
      plan.close();
      plan = null;
    }
  }
}
