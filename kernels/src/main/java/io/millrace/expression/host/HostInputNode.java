// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import java.util.ArrayList;
import java.util.List;

/** Reads the rows of one chunk at a time from a column in host memory. */
final class HostInputNode extends HostNode {
  /** The type of a node that reads the masks of a column alone, and no value. */
  static final DataType MASK_ONLY = DataType.struct();

  private final boolean isMaskOnly;
  private TypeId id;
  private ColumnReader nested;
  private long data;
  private long secondData;
  private final List<Mask> masks = new ArrayList<>();
  private int firstRow;
  private Rows chunkRows;

  /**
   * A validity mask.
   *
   * @param firstBit index of the bit of the table's first row
   */
  private record Mask(long address, long firstBit) {}

  HostInputNode(HostVector vector) {
    super(vector);
    this.isMaskOnly = vector.type().equals(MASK_ONLY);
  }

  /**
   * Binds the node to the last column of {@code way}; a row is null if it is null in any of them.
   *
   * @param way structs, each of which has the next column as a field
   * @param scope scope for accessing the columns' memory while the node is bound
   */
  void bind(List<InputPath.Location> way, AccessScope scope) {
    masks.clear();
    for (InputPath.Location location : way) {
      location
          .column()
          .validity()
          .ifPresent(mask -> masks.add(new Mask(address(mask, scope), location.firstElement())));
    }
    if (!isMaskOnly) {
      bindValues(way.get(way.size() - 1), scope);
    }
  }

  private void bindValues(InputPath.Location location, AccessScope scope) {
    Column column = location.column();
    int first = location.firstElement();
    id = column.type().id();
    data = 0;
    secondData = 0;
    if (id.isVariableWidth()) {
      data = address(column.data().orElseThrow(), scope);
      secondData = elements(column.child(0), first, scope);
    } else if (id == TypeId.TIMESTAMP_NANOS) {
      data = elements(column.child(0), first, scope);
      secondData = elements(column.child(1), first, scope);
    } else if (id.isFixedWidth()) {
      data = elements(column, location.firstRow(), scope);
    } else {
      data = location.firstRow();
      nested = new ColumnReader(column, scope);
    }
  }

  private static long elements(Column column, int first, AccessScope scope) {
    long width = column.type().id().byteWidth();
    return address(column.data().orElseThrow(), scope) + (column.offset() + first) * width;
  }

  private static long address(Buffer buffer, AccessScope scope) {
    return buffer.access(AccessMode.READ, scope);
  }

  /** Starts the chunk at {@code row} with the given rows. */
  void startChunk(int row, Rows rows) {
    firstRow = row;
    chunkRows = rows;
    startChunk();
  }

  @Override
  void compute(Rows rows, HostVector result) {
    if (!isMaskOnly) {
      loadValues(rows, result);
    }
    masks.forEach(mask -> loadNulls(mask, rows, result));
  }

  private void loadValues(Rows rows, HostVector result) {
    if (!rows.isDense()) {
      for (int i = 0; i < rows.count(); i++) {
        load(rows.position(i), result);
      }
    } else if (chunkRows.isDense()) {
      loadDense(rows.count(), result);
    } else {
      loadSelected(rows.count(), result);
    }
  }

  private void loadNulls(Mask mask, Rows rows, HostVector result) {
    long validity = mask.address();
    long first = mask.firstBit() + firstRow;
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      if (!HostMemory.getBit(validity, first + chunkRows.position(row))) {
        result.setNull(row);
      }
    }
  }

  /** Loads contiguous rows; separate loops for the types of most columns. */
  private void loadDense(int count, HostVector result) {
    switch (id) {
      case INT64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, DECIMAL64 ->
          HostMemory.copyToArray(result.longs(), data + (long) firstRow * Long.BYTES, count);
      case INT32, DATE, TIME, DECIMAL32 -> {
        long[] values = result.longs();
        long address = data + (long) firstRow * Integer.BYTES;
        for (int row = 0; row < count; row++) {
          values[row] = HostMemory.getInt(address + (long) row * Integer.BYTES);
        }
      }
      case FLOAT64 ->
          HostMemory.copyToArray(result.doubles(), data + (long) firstRow * Double.BYTES, count);
      case STRING, BINARY -> {
        long offsets = secondData + (long) firstRow * Integer.BYTES;
        int begin = HostMemory.getInt(offsets);
        for (int row = 0; row < count; row++) {
          int end = HostMemory.getInt(offsets + (row + 1L) * Integer.BYTES);
          result.setBytes(row, data + begin, end - begin);
          begin = end;
        }
      }
      default -> {
        for (int row = 0; row < count; row++) {
          load(row, result);
        }
      }
    }
  }

  /** Loads rows with gaps, see {@link #loadDense}. */
  private void loadSelected(int count, HostVector result) {
    switch (id) {
      case INT64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, DECIMAL64 -> {
        long[] values = result.longs();
        long address = data + (long) firstRow * Long.BYTES;
        for (int row = 0; row < count; row++) {
          values[row] = HostMemory.getLong(address + (long) chunkRows.position(row) * Long.BYTES);
        }
      }
      case INT32, DATE, TIME, DECIMAL32 -> {
        long[] values = result.longs();
        long address = data + (long) firstRow * Integer.BYTES;
        for (int row = 0; row < count; row++) {
          values[row] = HostMemory.getInt(address + (long) chunkRows.position(row) * Integer.BYTES);
        }
      }
      case FLOAT64 -> {
        double[] values = result.doubles();
        long address = data + (long) firstRow * Double.BYTES;
        for (int row = 0; row < count; row++) {
          values[row] =
              HostMemory.getDouble(address + (long) chunkRows.position(row) * Double.BYTES);
        }
      }
      default -> {
        for (int row = 0; row < count; row++) {
          load(row, result);
        }
      }
    }
  }

  private void load(int row, HostVector result) {
    long element = (long) firstRow + chunkRows.position(row);
    switch (id) {
      case BOOL, INT8 -> result.longs()[row] = HostMemory.getByte(data + element);
      case INT16 -> result.longs()[row] = HostMemory.getShort(data + element * Short.BYTES);
      case INT32, DATE, TIME, DECIMAL32 ->
          result.longs()[row] = HostMemory.getInt(data + element * Integer.BYTES);
      case INT64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, DECIMAL64 ->
          result.longs()[row] = HostMemory.getLong(data + element * Long.BYTES);
      case FLOAT32 -> result.doubles()[row] = HostMemory.getFloat(data + element * Float.BYTES);
      case FLOAT64 -> result.doubles()[row] = HostMemory.getDouble(data + element * Double.BYTES);
      case DECIMAL128 -> {
        result.longs()[row] = HostMemory.getLong(data + element * 2 * Long.BYTES);
        result.secondParts()[row] =
            HostMemory.getLong(data + element * 2 * Long.BYTES + Long.BYTES);
      }
      case TIMESTAMP_NANOS -> {
        result.longs()[row] = HostMemory.getLong(data + element * Long.BYTES);
        result.secondParts()[row] = HostMemory.getInt(secondData + element * Integer.BYTES);
      }
      case STRING, BINARY -> {
        int begin = HostMemory.getInt(secondData + element * Integer.BYTES);
        int end = HostMemory.getInt(secondData + (element + 1) * Integer.BYTES);
        result.setBytes(row, data + begin, end - begin);
      }
      case STRUCT, LIST -> NestedValues.read(nested, (int) (data + element), result, row);
      default -> throw new IllegalStateException("no expression reads " + id);
    }
  }
}
