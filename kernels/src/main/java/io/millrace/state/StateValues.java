// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.StateValuesBatch.Constant;
import java.util.ArrayList;
import java.util.List;

/**
 * Some rows of a state table as columns: one buffer with the masks of the key columns and the data
 * of all columns.
 */
final class StateValues implements AutoCloseable {
  private final StateSchema schema;
  private final Schema result;
  private final List<ConstantColumn> constants;
  private final int rows;
  private final DeviceStream stream;
  private final List<Long> keyOffsets = new ArrayList<>();
  private final AccumulatorColumns accumulators;
  private final long kindsOffset;
  private final List<Long> constantOffsets = new ArrayList<>();
  private final Buffer buffer;

  /**
   * @param changes {@link StateSchema#changes} of {@code schema}
   * @param constants columns behind {@code changes}
   */
  StateValues(
      StateSchema schema,
      Schema changes,
      List<ConstantColumn> constants,
      int rows,
      DeviceStream stream,
      MemoryResource memory) {
    this.schema = schema;
    this.constants = constants;
    this.rows = rows;
    this.stream = stream;
    List<Field> fields = new ArrayList<>(changes.fields());
    constants.forEach(constant -> fields.add(constant.field()));
    this.result = new Schema(fields);
    ResultLayout layout = new ResultLayout();
    layout.add(schema.keys().size() * Column.maskBytes(rows));
    for (int key = 0; key < schema.keys().size(); key++) {
      keyOffsets.add(layout.add((long) rows * result.type(key).id().byteWidth()));
    }
    this.accumulators = new AccumulatorColumns(schema, rows, layout);
    this.kindsOffset = layout.add(rows);
    constants.forEach(constant -> constantOffsets.add(layout.add((long) rows * Long.BYTES)));
    this.buffer = Buffer.allocate(layout.bytes(), stream, memory);
  }

  /** The addresses of the result, for rows from {@code firstRow} on. */
  StateValuesBatch batch(long firstRow, long chunkTable, int chunkShift, AccessScope scope) {
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
      int stride = field.type().id().byteWidth();
      for (int part = 0; part < StateSchema.words(field.type()); part++) {
        boolean hasMask = field.nullable() && part == 0;
        words.add(
            new KeyWord(
                0,
                0,
                0,
                0,
                output + keyOffsets.get(key) + (long) part * Long.BYTES,
                hasMask ? output + key * Column.maskBytes(rows) : 0,
                stride,
                Math.min(stride, Long.BYTES),
                KeyWord.BITS,
                hasMask ? key : KeyWord.NO_NULL_BIT));
      }
    }
    return words;
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
    List<Column> columns = new ArrayList<>();
    try {
      for (int i = 0; i < result.size(); i++) {
        columns.add(column(i));
      }
      return new Table(result, columns, rows);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      columns.forEach(column -> failure.run(column::close));
      throw e;
    }
  }

  private Column column(int position) {
    int keys = schema.keys().size();
    int kinds = keys + schema.accumulators().size();
    if (position < keys) {
      long maskBytes = Column.maskBytes(rows);
      boolean hasMask = result.field(position).nullable();
      return column(
          result.type(position),
          keyOffsets.get(position),
          hasMask ? buffer.slice(position * maskBytes, maskBytes) : null);
    }
    if (position < kinds) {
      return accumulators.column(position - keys, buffer, rows);
    }
    long offset = position == kinds ? kindsOffset : constantOffsets.get(position - kinds - 1);
    return column(result.type(position), offset, null);
  }

  private Column column(DataType type, long offset, Buffer mask) {
    Buffer data = buffer.slice(offset, (long) rows * type.id().byteWidth());
    return new Column(type, rows, 0, data, mask, List.of());
  }

  @Override
  public void close() {
    buffer.close();
  }
}
