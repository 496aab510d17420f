// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.Accumulator.Function;
import io.millrace.state.StateInput.SumColumn;
import java.util.ArrayList;
import java.util.List;

/**
 * The result of an update, allocated before it for as many changed keys as the batch has rows: one
 * buffer with the masks of the columns that may be null, of which those of keys are zero at first,
 * and then the data of all columns. A changed key has two rows: its values before the update and
 * its values after it.
 */
final class StateChanges implements AutoCloseable {
  private static final long ALIGNMENT = 64;

  private final StateSchema schema;
  private final Schema result;
  private final long capacity;
  private final DeviceStream stream;
  private final long[] dataOffsets;
  private final long[] maskOffsets;
  // Of the words above the values of sums of decimals.
  private final long[] topOffsets;
  private final Buffer buffer;
  private final boolean[] hasMask;

  /**
   * @param result {@link StateSchema#changes} of {@code schema}
   * @param batchRows rows of the batch
   */
  StateChanges(
      StateSchema schema,
      Schema result,
      int batchRows,
      DeviceStream stream,
      MemoryResource memory) {
    this.schema = schema;
    this.result = result;
    this.capacity = 2L * batchRows;
    this.stream = stream;
    this.dataOffsets = new long[result.size()];
    this.maskOffsets = new long[result.size()];
    this.hasMask = new boolean[result.size()];
    long bytes = 0;
    for (int i = 0; i < result.size(); i++) {
      maskOffsets[i] = bytes;
      boolean isKey = i < schema.keys().size();
      bytes += isKey || result.field(i).nullable() ? Column.maskBytes(capacity) : 0;
    }
    for (int i = 0; i < result.size(); i++) {
      dataOffsets[i] = bytes;
      long width = result.type(i).id().byteWidth();
      bytes += (capacity * width + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    this.topOffsets = new long[schema.accumulators().size()];
    for (int i = 0; i < topOffsets.length; i++) {
      topOffsets[i] = bytes;
      bytes += schema.accumulators().get(i).words(schema.input()) > 2 ? capacity * Long.BYTES : 0;
    }
    this.buffer = Buffer.allocate(bytes, stream, memory);
  }

  /** The addresses of the batch's columns and of the result. */
  StateInput input(Table batch, AccessScope scope) {
    long output = buffer.access(AccessMode.WRITE, scope);
    List<Column> keys = schema.keys().stream().map(batch::column).toList();
    for (int i = 0; i < result.size(); i++) {
      hasMask[i] = i < keys.size() ? keys.get(i).isNullable() : result.field(i).nullable();
    }
    if (keys.stream().anyMatch(Column::isNullable)) {
      stream.fill(output, (byte) 0, keys.size() * Column.maskBytes(capacity));
    }
    List<KeyWord> words = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      addKey(i, keys.get(i), output, scope, words);
    }
    List<AccumulatorValue> values = new ArrayList<>();
    for (int i = 0; i < schema.accumulators().size(); i++) {
      addValues(i, batch, output, scope, values);
    }
    boolean hasKinds = schema.kindColumn() != StateSchema.NO_KINDS;
    long rowKinds = hasKinds ? data(batch.column(schema.kindColumn()), scope) : 0;
    long kinds = output + dataOffsets[dataOffsets.length - 1];
    return new StateInput(words, schema.hasNullWord(), values, rowKinds, kinds, sums(output));
  }

  private long mask(int column, long output) {
    return hasMask[column] ? output + maskOffsets[column] : 0;
  }

  private void addKey(int key, Column column, long output, AccessScope scope, List<KeyWord> words) {
    Field field = schema.input().field(schema.keys().get(key));
    int stride = field.type().id().byteWidth();
    int width = Math.min(stride, Long.BYTES);
    for (int part = 0; part < StateSchema.words(field.type()); part++) {
      long shift = (long) part * Long.BYTES;
      words.add(
          new KeyWord(
              data(column, scope) + shift,
              validity(column, scope),
              column.offset(),
              output + dataOffsets[key] + shift,
              part == 0 ? mask(key, output) : 0,
              stride,
              width,
              wordType(field.type()),
              field.nullable() && part == 0 ? key : KeyWord.NO_NULL_BIT));
    }
  }

  private static int wordType(DataType type) {
    return switch (type.id()) {
      case FLOAT32 -> KeyWord.FLOAT32;
      case FLOAT64 -> KeyWord.FLOAT64;
      default -> KeyWord.BITS;
    };
  }

  private void addValues(
      int position, Table batch, long output, AccessScope scope, List<AccumulatorValue> values) {
    Accumulator accumulator = schema.accumulators().get(position);
    Column column =
        accumulator.column() == Accumulator.ALL_ROWS ? null : batch.column(accumulator.column());
    boolean isCount = accumulator.function() == Function.COUNT;
    DataType type = accumulator.type(schema.input());
    AccumulatorValue first =
        new AccumulatorValue(
            isCount ? 0 : data(column, scope),
            column == null ? 0 : validity(column, scope),
            column == null ? 0 : column.offset(),
            output + dataOffsets[schema.keys().size() + position],
            isCount ? 0 : column.type().id().byteWidth(),
            isCount ? AccumulatorValue.ONE : code(accumulator, column.type()),
            accumulator.operation(schema.input()),
            accumulator.words(schema.input()) == 1
                ? code(accumulator, type)
                : AccumulatorValue.HALF);
    values.add(first);
    if (accumulator.words(schema.input()) > 1) {
      values.addAll(first.furtherWords(column.type(), output + topOffsets[position]));
    }
  }

  private int code(Accumulator accumulator, DataType type) {
    if (accumulator.isOrdered(schema.input())) {
      return type.id() == TypeId.FLOAT32 ? AccumulatorValue.INT32 : AccumulatorValue.INT64;
    }
    return AccumulatorValue.code(type);
  }

  private List<SumColumn> sums(long output) {
    List<SumColumn> sums = new ArrayList<>();
    for (int i = 0; i < schema.accumulators().size(); i++) {
      int words = schema.accumulators().get(i).words(schema.input());
      if (words > 1) {
        int column = schema.keys().size() + i;
        long tops = words > 2 ? output + topOffsets[i] : 0;
        sums.add(new SumColumn(output + dataOffsets[column], tops, mask(column, output)));
      }
    }
    return sums;
  }

  private static long data(Column column, AccessScope scope) {
    long address = column.data().orElseThrow().access(AccessMode.READ, scope);
    return address + (long) column.offset() * column.type().id().byteWidth();
  }

  private static long validity(Column column, AccessScope scope) {
    return column.validity().map(mask -> mask.access(AccessMode.READ, scope)).orElse(0L);
  }

  /** The result, which the caller closes. Called once. */
  Table table(int changedKeys) {
    int rows = Math.multiplyExact(2, changedKeys);
    List<Column> columns = new ArrayList<>();
    try {
      for (int i = 0; i < result.size(); i++) {
        columns.add(column(i, rows));
      }
      return new Table(result, columns, rows);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      columns.forEach(column -> failure.run(column::close));
      throw e;
    }
  }

  private Column column(int position, int rows) {
    DataType type = result.type(position);
    Buffer data = buffer.slice(dataOffsets[position], (long) rows * type.id().byteWidth());
    Buffer mask =
        hasMask[position] ? buffer.slice(maskOffsets[position], Column.maskBytes(rows)) : null;
    return new Column(type, rows, 0, data, mask, List.of());
  }

  @Override
  public void close() {
    buffer.close();
  }
}
