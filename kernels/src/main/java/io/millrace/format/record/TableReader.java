// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordFilter;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Reads records of one format into tables. Used by one thread; closed once. */
@Internal
public final class TableReader implements AutoCloseable {
  private final Schema schema;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final RecordLevel level;
  // null if all rows are kept, as the next one.
  private final RecordFilter filter;
  private final RecordCondition condition;

  /**
   * @param fields of the schema
   * @param filter empty to keep all rows
   * @param kernels of the format on the device of the stream
   * @param stream of the records and results; stays open as long as the reader
   * @param memory of results
   * @throws IllegalArgumentException if {@link RecordFilter#unsupported} says why the rows cannot
   *     be filtered
   */
  public TableReader(
      Schema schema,
      RecordFields fields,
      Optional<RecordFilter> filter,
      RecordFormat format,
      RecordKernels kernels,
      DeviceStream stream,
      MemoryResource memory) {
    this.schema = schema;
    this.stream = stream;
    this.memory = memory;
    this.filter = filter.orElse(null);
    this.condition = filter.map(kept -> new RecordCondition(schema, kept)).orElse(null);
    this.level = new RecordLevel(fields, format, kernels, stream, memory);
  }

  /**
   * As {@link io.millrace.format.RecordReader#read}.
   *
   * @throws UnknownSchemasException if records name schemas that the format does not know
   */
  public ParsedRecords read(RecordBytes records) {
    try (AccessScope scope = AccessScope.on(stream);
        RecordPass pass = new RecordPass(level, texts(records, scope), condition, scope)) {
      RecordFaults faults = pass.isComplete() ? null : new RecordFaults(pass);
      BitSet rows = rows(faults, records.count());
      BitSet kept = condition == null ? rows : kept(pass, faults, rows, scope);
      List<MalformedRecord> malformed =
          rows.cardinality() == records.count() ? List.of() : faults.malformed();
      try (Table table = pass.take(schema)) {
        Table selected = select(table, kept);
        if (condition == null) {
          return kept.cardinality() == records.count()
              ? new ParsedRecords(selected)
              : new ParsedRecords(selected, malformed, kept.stream().toArray());
        }
        try (Table all = table.select(filter.unfiltered())) {
          return new ParsedRecords(
              selected, malformed, kept.stream().toArray(), Optional.of(select(all, rows)));
        } catch (RuntimeException | Error e) {
          selected.close();
          throw e;
        }
      }
    }
  }

  private static BitSet rows(RecordFaults faults, int records) {
    BitSet rows = new BitSet(records);
    if (faults == null) {
      rows.set(0, records);
    } else {
      IntStream.of(faults.valid()).forEach(rows::set);
    }
    return rows;
  }

  // A record whose numbers were rounded since is looked at again.
  private BitSet kept(RecordPass pass, RecordFaults faults, BitSet rows, AccessScope scope) {
    BitSet kept = new BitSet();
    if (pass.kept() != null) {
      kept = trueRows(pass.kept(), scope);
      if (pass.hasUndecided()) {
        try (Column again = condition.evaluate(pass.columns(), stream, memory)) {
          BitSet decided = trueRows(again, scope);
          decided.and(faults.decided());
          kept.andNot(faults.decided());
          kept.or(decided);
        }
      }
    }
    kept.and(rows);
    return kept;
  }

  private BitSet trueRows(Column column, AccessScope scope) {
    byte[] values = HostCopy.bytes(column.dataAddress(scope), column.size(), stream);
    BitSet rows = new BitSet(values.length);
    IntStream.range(0, values.length).filter(row -> values[row] != 0).forEach(rows::set);
    return rows;
  }

  private Table select(Table table, BitSet rows) {
    return rows.cardinality() == table.rowCount()
        ? table.share()
        : select(table, rows.stream().toArray(), stream, memory);
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
      try (Column map = new Column(DataType.INT32, rows.length, 0, copy, null, List.of());
          DeviceEvent copied = stream.recordEvent()) {
        staged.closeAfter(copied);
        return Gather.gather(table, map, stream, memory);
      }
    }
  }

  /** Frees what the reader keeps for further records. */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(level::close);
    if (condition != null) {
      failure.run(condition::close);
    }
    failure.rethrow();
  }
}
