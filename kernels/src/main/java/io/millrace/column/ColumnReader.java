// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import java.util.List;

/**
 * Reads the elements of a column that is in host memory, by row within the column. Valid until the
 * scope it was made with is closed. Rows are not checked; a value under a null is undefined.
 */
@PublicEvolving
public final class ColumnReader {
  private final DataType type;
  private final int size;
  private final int offset;
  private final long dataAddress;
  private final long maskAddress;
  private final long offsetsAddress;
  private final List<ColumnReader> children;

  /**
   * @param scope on a host stream; pending copies into the column are waited for
   * @throws IllegalStateException if the column is in device memory
   */
  public ColumnReader(Column column, AccessScope scope) {
    this.type = column.type();
    this.size = column.size();
    this.offset = column.offset();
    this.dataAddress = column.data().map(buffer -> address(buffer, scope)).orElse(0L);
    this.maskAddress = column.validity().map(buffer -> address(buffer, scope)).orElse(0L);
    this.children =
        column.children().stream().map(child -> new ColumnReader(child, scope)).toList();
    this.offsetsAddress =
        column.hasOffsets()
            ? children.get(0).dataAddress + children.get(0).offset * (long) Integer.BYTES
            : 0;
  }

  private static long address(Buffer buffer, AccessScope scope) {
    return buffer.access(AccessMode.READ, scope);
  }

  public DataType type() {
    return type;
  }

  public int size() {
    return size;
  }

  /** Whether any row may be null. */
  public boolean isNullable() {
    return maskAddress != 0;
  }

  public boolean isNull(int row) {
    return maskAddress != 0 && !HostMemory.getBit(maskAddress, (long) offset + row);
  }

  public boolean getBoolean(int row) {
    return HostMemory.getByte(dataAddress + offset + row) != 0;
  }

  public byte getByte(int row) {
    return HostMemory.getByte(dataAddress + offset + row);
  }

  public short getShort(int row) {
    return HostMemory.getShort(dataAddress + (offset + (long) row) * Short.BYTES);
  }

  public int getInt(int row) {
    return HostMemory.getInt(dataAddress + (offset + (long) row) * Integer.BYTES);
  }

  public long getLong(int row) {
    return HostMemory.getLong(dataAddress + (offset + (long) row) * Long.BYTES);
  }

  public float getFloat(int row) {
    return HostMemory.getFloat(dataAddress + (offset + (long) row) * Float.BYTES);
  }

  public double getDouble(int row) {
    return HostMemory.getDouble(dataAddress + (offset + (long) row) * Double.BYTES);
  }

  /** Low 64 bits of a DECIMAL128. */
  public long getDecimal128Low(int row) {
    return HostMemory.getLong(dataAddress + (offset + (long) row) * 16);
  }

  /** High 64 bits of a DECIMAL128. */
  public long getDecimal128High(int row) {
    return HostMemory.getLong(dataAddress + (offset + (long) row) * 16 + Long.BYTES);
  }

  /** Milliseconds of a TIMESTAMP(7..9). */
  public long getTimestampMillis(int row) {
    return children.get(0).getLong(offset + row);
  }

  /** Nanoseconds of the millisecond of a TIMESTAMP(7..9). */
  public int getTimestampNanosOfMilli(int row) {
    return children.get(1).getInt(offset + row);
  }

  /** The offset of the first byte of a STRING or BINARY, or of the first element of a LIST. */
  public int getOffset(int row) {
    return HostMemory.getInt(offsetsAddress + (offset + (long) row) * Integer.BYTES);
  }

  /** Bytes of a STRING or BINARY, or elements of a LIST. */
  public int getLength(int row) {
    return getOffset(row + 1) - getOffset(row);
  }

  /** Address of a STRING's or BINARY's first byte. */
  public long getBytesAddress(int row) {
    return dataAddress + getOffset(row);
  }

  /** A copy of a STRING's or BINARY's bytes. */
  public byte[] getBytes(int row) {
    byte[] bytes = new byte[getLength(row)];
    HostMemory.copyToArray(bytes, 0, getBytesAddress(row), bytes.length);
    return bytes;
  }

  /** The elements of a LIST, read at {@code getOffset(row)} and on. */
  public ColumnReader elements() {
    return children.get(1);
  }

  /** A field of a STRUCT, read at the struct's own rows. */
  public ColumnReader field(int index) {
    return children.get(index).shifted(offset);
  }

  /** The values of a DICTIONARY, read at {@code getInt(row)}. */
  public ColumnReader dictionary() {
    return children.get(0);
  }

  private ColumnReader shifted(int rows) {
    return rows == 0 ? this : new ColumnReader(this, rows);
  }

  private ColumnReader(ColumnReader reader, int rows) {
    this.type = reader.type;
    this.size = reader.size - rows;
    this.offset = reader.offset + rows;
    this.dataAddress = reader.dataAddress;
    this.maskAddress = reader.maskAddress;
    this.offsetsAddress = reader.offsetsAddress;
    this.children = reader.children;
  }
}
