// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;
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
import io.millrace.format.record.RecordKernels.Records;
import io.millrace.format.text.FloatingPoint;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.List;

/** Reads records of one format into tables. Used by one thread; closed once. */
@Internal
public final class TableReader implements AutoCloseable {
  private final Schema schema;
  private final RecordFields fields;
  private final RecordFormat format;
  private final RecordKernels kernels;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private Buffer plan;

  /**
   * @param fields of the schema
   * @param kernels of the format on the device of the stream
   * @param stream of the records and results; stays open as long as the reader
   * @param memory of results
   */
  public TableReader(
      Schema schema,
      RecordFields fields,
      RecordFormat format,
      RecordKernels kernels,
      DeviceStream stream,
      MemoryResource memory) {
    this.schema = schema;
    this.fields = fields;
    this.format = format;
    this.kernels = kernels;
    this.stream = stream;
    this.memory = memory;
  }

  /**
   * As {@link io.millrace.format.RecordReader#read}.
   *
   * @throws UnknownSchemasException if records name schemas that the format does not know
   */
  public ParsedRecords read(RecordBytes records) {
    int count = records.count();
    if (count == 0) {
      try (RecordColumns none = new RecordColumns(fields, 0, stream, memory);
          AccessScope scope = AccessScope.on(stream)) {
        return new ParsedRecords(noRows(none, scope));
      }
    }
    Buffer currentPlan = plan();
    long wordBytes = (long) count * Long.BYTES;
    long scratchBytes = kernels.scratchBytes(fields, count);
    int resultBytes = RecordKernels.resultBytes(fields);
    try (RecordColumns columns = new RecordColumns(fields, count, stream, memory);
        Buffer scratch = Buffer.allocate(wordBytes + scratchBytes, stream, memory);
        StagingBuffer result = stream.device().stagingPool().acquire(resultBytes);
        AccessScope scope = AccessScope.on(stream)) {
      long planAddress = currentPlan.access(AccessMode.READ, scope);
      long errors = scratch.access(AccessMode.WRITE, scope);
      Records input =
          new Records(
              format,
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

  private Table noRows(RecordColumns none, AccessScope scope) {
    none.clearOffsets(scope);
    return none.take(schema, new int[fields.size()]);
  }

  private ParsedRecords finish(Records input, RecordColumns columns, AccessScope scope) {
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
    RecordFaults faults = new RecordFaults(input);
    faults.checkSchemas();
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
      long bytes = powersBytes() + fields.bytes() + format.bytes();
      try (StagingBuffer staged = stream.device().stagingPool().acquire(bytes)) {
        FloatingPoint.writePowersOfFive(staged.address());
        long address = staged.address() + powersBytes();
        fields.write(address);
        format.write(address, address + fields.bytes());
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
