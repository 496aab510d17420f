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
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final RecordLevel level;

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
    this.stream = stream;
    this.memory = memory;
    this.level = new RecordLevel(fields, format, kernels, stream, memory);
  }

  /**
   * As {@link io.millrace.format.RecordReader#read}.
   *
   * @throws UnknownSchemasException if records name schemas that the format does not know
   */
  public ParsedRecords read(RecordBytes records) {
    try (AccessScope scope = AccessScope.on(stream);
        RecordPass pass = new RecordPass(level, texts(records, scope), scope)) {
      if (pass.isComplete()) {
        return new ParsedRecords(pass.take(schema));
      }
      RecordFaults faults = new RecordFaults(pass);
      Table table = pass.take(schema);
      int[] valid = faults.valid();
      if (valid.length == records.count()) {
        return new ParsedRecords(table);
      }
      try (table) {
        List<MalformedRecord> malformed = faults.malformed();
        return new ParsedRecords(select(table, valid, stream, memory), malformed, valid);
      }
    }
  }

  static RecordTexts texts(RecordBytes records, AccessScope scope) {
    if (records.count() == 0) {
      return RecordTexts.NONE;
    }
    boolean isEmpty = records.bytes().size() == 0;
    long bytes = isEmpty ? 0 : records.bytes().access(AccessMode.READ, scope);
    long starts = records.positions().access(AccessMode.READ, scope);
    return new RecordTexts(bytes, starts, starts + Integer.BYTES, records.count());
  }

  /** The rows with these numbers. */
  static Table select(Table table, int[] rows, DeviceStream stream, MemoryResource memory) {
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

  /** Frees what the reader keeps for further records. */
  @Override
  public void close() {
    level.close();
  }
}
