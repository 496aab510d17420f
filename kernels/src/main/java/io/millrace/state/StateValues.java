// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.Internal;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.PerDevice;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.StateInput.SumColumn;
import io.millrace.state.StateValuesBatch.Constant;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.ConstantColumn;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.ResultLayout;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateSchema;
import io.millrace.state.string.StringColumn;
import io.millrace.state.string.TableStrings.Chunks;
import java.util.ArrayList;
import java.util.List;

/**
 * Some rows of a state table as columns: one buffer with the masks of the key columns and the data
 * of all columns, and one with the bytes of each column with strings.
 */
@Internal
public final class StateValues implements AutoCloseable {
  private static final PerDevice<StateValuesBatch.Kernels> KERNELS =
      new PerDevice<>(host -> new HostStateValues(), CudaStateValues::new);

  private final StateSchema schema;
  private final Schema result;
  private final List<ConstantColumn> constants;
  private final int rows;
  private final DeviceStream stream;
  private final List<ColumnPlace> keyPlaces = new ArrayList<>();
  // For each accumulator; null if its values are no strings.
  private final List<ColumnPlace> valuePlaces = new ArrayList<>();
  private final ResultColumns accumulators;
  private final long kindsOffset;
  private final List<Long> constantOffsets = new ArrayList<>();
  private final MemoryResource memory;
  private final Buffer buffer;
  // For each column with strings, in their order, its bytes.
  private final List<Buffer> strings = new ArrayList<>();

  /**
   * Places of a key column, or of a column of strings, in the buffer.
   *
   * @param first of its elements; of strings their offsets; of a TIMESTAMP with nanoseconds its
   *     milliseconds
   * @param second of the nanoseconds; of strings scratch memory
   */
  private record ColumnPlace(long first, long second) {}

  /** What the accumulators of state rows are written to: columns in the buffer of a result. */
  interface ResultColumns {

    /**
     * The words of the accumulators, of which only what is about the result counts.
     *
     * @param output address of the buffer of the result
     */
    List<AccumulatorValue> results(long output);

    /** The columns whose masks are to be written. */
    List<SumColumn> sums(long output);

    /** The first rows of a column over slices of the buffer; the caller closes it. */
    Column column(int position, Buffer buffer, int rows);
  }

  /** Makes the columns of accumulators. */
  private interface Accumulators {
    ResultColumns columns(StateSchema schema, int rows, ResultLayout layout);
  }

  /**
   * @param changes {@link StateSchema#changes} of {@code schema}
   * @param constants columns behind {@code changes}
   */
  static StateValues of(
      StateSchema schema,
      Schema changes,
      List<ConstantColumn> constants,
      int rows,
      DeviceStream stream,
      MemoryResource memory) {
    List<Field> fields = new ArrayList<>(changes.fields());
    constants.forEach(constant -> fields.add(constant.field()));
    return new StateValues(
        schema,
        new Schema(fields),
        (table, count, layout) -> new AccumulatorColumns(table, count, false, layout),
        constants,
        rows,
        stream,
        memory);
  }

  /**
   * Copies of rows as columns: makes one attempt. Waits if there are strings.
   *
   * @param copies valid within {@code scope}; only the addresses of rows and strings count
   * @return the columns of {@link StateSchema#changes}; the caller closes the table
   * @throws GpuOutOfMemoryException if there is too little memory, or a column would have more than
   *     2 Gi bytes
   */
  public static Table of(
      StateAccess copies, AccessScope scope, DeviceStream stream, MemoryResource memory) {
    int count = (int) copies.rowCount();
    try (StateValues columns = of(copies.schema(), count, stream, memory)) {
      columns.write(0, copies, scope);
      return columns.table();
    }
  }

  /** The columns of {@link StateSchema#changes} without rows; the caller closes the table. */
  public static Table ofNoRows(StateSchema schema, DeviceStream stream, MemoryResource memory) {
    try (StateValues columns = of(schema, 0, stream, memory);
        AccessScope scope = AccessScope.on(stream)) {
      columns.clear(scope);
      return columns.table();
    }
  }

  private static StateValues of(
      StateSchema schema, int rows, DeviceStream stream, MemoryResource memory) {
    return of(schema, schema.changes(), List.of(), rows, stream, memory);
  }

  /** The columns of {@link StateSchema#partials}. */
  static StateValues partials(
      StateSchema schema, int rows, DeviceStream stream, MemoryResource memory) {
    if (schema.hasTime()) {
      throw new IllegalStateException("expected a table of the first phase: its rows have no time");
    }
    return new StateValues(
        schema, schema.partials(), AccumulatorColumns.Words::new, List.of(), rows, stream, memory);
  }

  private StateValues(
      StateSchema schema,
      Schema result,
      Accumulators accumulators,
      List<ConstantColumn> constants,
      int rows,
      DeviceStream stream,
      MemoryResource memory) {
    this.schema = schema;
    this.constants = constants;
    this.rows = rows;
    this.stream = stream;
    this.memory = memory;
    this.result = result;
    ResultLayout layout = new ResultLayout();
    layout.add(schema.keys().size() * Column.maskBytes(rows));
    for (int key = 0; key < schema.keys().size(); key++) {
      keyPlaces.add(place(result.type(key).id(), layout));
    }
    this.accumulators = accumulators.columns(schema, rows, layout);
    for (Accumulator accumulator : schema.accumulators()) {
      boolean isString = accumulator.isString(schema.input());
      valuePlaces.add(isString ? place(TypeId.STRING, layout) : null);
    }
    this.kindsOffset = layout.add(rows);
    constants.forEach(constant -> constantOffsets.add(layout.add((long) rows * Long.BYTES)));
    this.buffer = Buffer.allocate(layout.bytes(), stream, memory);
  }

  private ColumnPlace place(TypeId id, ResultLayout layout) {
    if (id.isVariableWidth()) {
      long offsets = layout.add((rows + 1L) * Integer.BYTES);
      return new ColumnPlace(offsets, layout.add(LongStrings.lookBackBytes(rows)));
    }
    if (id == TypeId.TIMESTAMP_NANOS) {
      long millis = layout.add((long) rows * Long.BYTES);
      return new ColumnPlace(millis, layout.add((long) rows * Integer.BYTES));
    }
    return new ColumnPlace(layout.add((long) rows * id.byteWidth()), 0);
  }

  /**
   * Writes the rows from {@code firstRow} on, at least one: makes one attempt. Enqueued; waits for
   * the offsets of strings. Called once.
   *
   * @throws GpuOutOfMemoryException if there is too little memory, or a column would have more than
   *     2 Gi bytes
   */
  void write(long firstRow, StateAccess access, AccessScope scope) {
    StateValuesBatch batch = batch(firstRow, access.chunkTable(), access.chunkShift(), scope);
    KERNELS.of(stream.device()).write(batch);
    StateBatch.KERNELS.of(stream.device()).maskOverflows(batch.sums(), batch.rows(), stream);
    if (schema.hasStrings()) {
      writeStrings(batch, new Chunks(access.keyStrings(), access.valueStrings()), scope);
    }
  }

  private StateValuesBatch batch(
      long firstRow, long chunkTable, int chunkShift, AccessScope scope) {
    long output = buffer.access(AccessMode.WRITE, scope);
    return new StateValuesBatch(
        firstRow,
        rows,
        key(output),
        schema.hasNullWord(),
        accumulators.results(output),
        accumulators.sums(output),
        output + kindsOffset,
        constants(output),
        schema.rowWords(),
        schema.rowCount(),
        chunkTable,
        chunkShift,
        stream);
  }

  private List<KeyWord> key(long output) {
    List<KeyWord> words = new ArrayList<>();
    for (int key = 0; key < schema.keys().size(); key++) {
      Field field = result.field(key);
      TypeId id = field.type().id();
      ColumnPlace place = keyPlaces.get(key);
      long mask = field.nullable() ? output + key * Column.maskBytes(rows) : 0;
      int nullBit = field.nullable() ? key : KeyWord.NO_NULL_BIT;
      KeyWord first = new KeyWord(0, 0, 0, 0, 0, mask, 0, 0, KeyWord.BITS, nullBit);
      KeyWord next = new KeyWord(0, 0, 0, 0, 0, 0, 0, 0, KeyWord.BITS, KeyWord.NO_NULL_BIT);
      long target = output + place.first;
      if (id.isVariableWidth()) {
        words.addAll(List.of(first, next));
      } else if (id == TypeId.TIMESTAMP_NANOS) {
        words.add(first.fixed(0, target, Long.BYTES, Long.BYTES, KeyWord.BITS));
        words.add(next.fixed(0, output + place.second, Integer.BYTES, Integer.BYTES, KeyWord.BITS));
      } else {
        int stride = id.byteWidth();
        int width = Math.min(stride, Long.BYTES);
        words.add(first.fixed(0, target, stride, width, KeyWord.BITS));
        if (stride > width) {
          words.add(next.fixed(0, target + width, stride, width, KeyWord.BITS));
        }
      }
    }
    return words;
  }

  // Waits for the offsets.
  private void writeStrings(StateValuesBatch batch, Chunks chunks, AccessScope scope) {
    long output = buffer.access(AccessMode.WRITE, scope);
    List<StringColumn> columns = new ArrayList<>();
    for (int key = 0; key < schema.keys().size(); key++) {
      if (result.type(key).id().isVariableWidth()) {
        int head = schema.tails().get(columns.size()) - 1;
        columns.add(strings(batch, head, chunks.keys(), keyPlaces.get(key), output));
      }
    }
    int value = 0;
    for (ColumnPlace place : valuePlaces) {
      if (place != null) {
        int head = schema.valueTails().get(value++) - 1;
        columns.add(strings(batch, head, chunks.values(), place, output));
      }
    }
    try (StagingBuffer totals =
        stream.device().stagingPool().acquire((long) columns.size() * Long.BYTES)) {
      for (int i = 0; i < columns.size(); i++) {
        columns.get(i).writeOffsets(totals.address() + (long) i * Long.BYTES);
      }
      stream.synchronize();
      for (int i = 0; i < columns.size(); i++) {
        long bytes = HostMemory.getLong(totals.address() + (long) i * Long.BYTES);
        if (bytes > Integer.MAX_VALUE) {
          throw new GpuOutOfMemoryException("a column holds at most 2 Gi bytes or elements");
        }
        Buffer data = Buffer.allocate(bytes, stream, memory);
        strings.add(data);
        columns.get(i).to(data.access(AccessMode.WRITE, scope)).writeBytes();
      }
    }
  }

  private static StringColumn strings(
      StateValuesBatch batch, int head, long chunks, ColumnPlace place, long output) {
    return new StringColumn(
        batch.firstRow(),
        batch.rows(),
        batch.rowWords(),
        batch.chunkTable(),
        batch.chunkShift(),
        head,
        chunks,
        output + place.first,
        0,
        output + place.second,
        batch.stream());
  }

  /** Makes the result of no rows. Enqueued. */
  void clear(AccessScope scope) {
    stream.fill(buffer.access(AccessMode.WRITE, scope), (byte) 0, buffer.size());
    for (int i = schema.tails().size() + schema.valueTails().size(); i > 0; i--) {
      strings.add(buffer.slice(0, 0));
    }
  }

  private List<Constant> constants(long output) {
    List<Constant> columns = new ArrayList<>();
    for (int i = 0; i < constants.size(); i++) {
      columns.add(new Constant(output + constantOffsets.get(i), constants.get(i).value()));
    }
    return columns;
  }

  /** The result, which the caller closes. Called once. */
  Table table() {
    return Table.of(result, rows, this::column);
  }

  private Column column(int position) {
    int keys = schema.keys().size();
    int kinds = result.names().indexOf(StateSchema.KIND);
    if (position < keys) {
      return key(position);
    }
    if (kinds < 0) {
      return accumulators.column(position - keys, buffer, rows);
    }
    if (position < kinds) {
      ColumnPlace place = valuePlaces.get(position - keys);
      return place == null
          ? accumulators.column(position - keys, buffer, rows)
          : strings(position, place, null);
    }
    long offset = position == kinds ? kindsOffset : constantOffsets.get(position - kinds - 1);
    return column(result.type(position), offset, null);
  }

  private Column key(int key) {
    Field field = result.field(key);
    ColumnPlace place = keyPlaces.get(key);
    long maskBytes = Column.maskBytes(rows);
    Buffer mask = field.nullable() ? buffer.slice(key * maskBytes, maskBytes) : null;
    if (field.type().id().isVariableWidth()) {
      return strings(key, place, mask);
    }
    if (field.type().id() == TypeId.TIMESTAMP_NANOS) {
      Column millis = column(DataType.INT64, place.first, null);
      Column nanos = column(DataType.INT32, place.second, null);
      return new Column(field.type(), rows, 0, null, mask, List.of(millis, nanos));
    }
    return column(field.type(), place.first, mask);
  }

  private Column strings(int position, ColumnPlace place, Buffer mask) {
    Buffer offsets = buffer.slice(place.first, (rows + 1L) * Integer.BYTES);
    Column offsetColumn = new Column(DataType.INT32, rows + 1, 0, offsets, null, List.of());
    return new Column(result.type(position), rows, 0, bytes(position), mask, List.of(offsetColumn));
  }

  private Buffer bytes(int position) {
    int number = 0;
    for (int i = 0; i < position; i++) {
      number += result.type(i).id().isVariableWidth() ? 1 : 0;
    }
    Buffer bytes = strings.get(number);
    return bytes.slice(0, bytes.size());
  }

  private Column column(DataType type, long offset, Buffer mask) {
    Buffer data = buffer.slice(offset, (long) rows * type.id().byteWidth());
    return new Column(type, rows, 0, data, mask, List.of());
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(buffer::close);
    strings.forEach(bytes -> failure.run(bytes::close));
    failure.rethrow();
  }
}
