// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RawValueData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.types.RowKind;
import org.apache.flink.types.variant.Variant;

/** A view of a row whose fields are some of the row's fields and fields of its ROW fields. */
final class LeafRow implements RowData {
  private final LeafPath[] paths;
  private RowData row;

  LeafRow(LeafPath[] paths) {
    this.paths = paths;
  }

  LeafRow of(RowData newRow) {
    row = newRow;
    return this;
  }

  private RowData parent(int field) {
    RowData parent = row;
    for (int step = 0; step < paths[field].depth(); step++) {
      parent = parent.getRow(paths[field].index(step), paths[field].arity(step));
    }
    return parent;
  }

  private int last(int field) {
    return paths[field].index(paths[field].depth());
  }

  @Override
  public boolean isNullAt(int field) {
    RowData parent = row;
    LeafPath path = paths[field];
    for (int step = 0; step < path.depth(); step++) {
      if (parent.isNullAt(path.index(step))) {
        return true;
      }
      parent = parent.getRow(path.index(step), path.arity(step));
    }
    return parent.isNullAt(path.index(path.depth()));
  }

  @Override
  public int getArity() {
    return paths.length;
  }

  @Override
  public RowKind getRowKind() {
    return row.getRowKind();
  }

  @Override
  public void setRowKind(RowKind kind) {
    throw new UnsupportedOperationException("a view of a row is read only");
  }

  @Override
  public boolean getBoolean(int field) {
    return parent(field).getBoolean(last(field));
  }

  @Override
  public byte getByte(int field) {
    return parent(field).getByte(last(field));
  }

  @Override
  public short getShort(int field) {
    return parent(field).getShort(last(field));
  }

  @Override
  public int getInt(int field) {
    return parent(field).getInt(last(field));
  }

  @Override
  public long getLong(int field) {
    return parent(field).getLong(last(field));
  }

  @Override
  public float getFloat(int field) {
    return parent(field).getFloat(last(field));
  }

  @Override
  public double getDouble(int field) {
    return parent(field).getDouble(last(field));
  }

  @Override
  public StringData getString(int field) {
    return parent(field).getString(last(field));
  }

  @Override
  public DecimalData getDecimal(int field, int precision, int scale) {
    return parent(field).getDecimal(last(field), precision, scale);
  }

  @Override
  public TimestampData getTimestamp(int field, int precision) {
    return parent(field).getTimestamp(last(field), precision);
  }

  @Override
  public <T> RawValueData<T> getRawValue(int field) {
    return parent(field).getRawValue(last(field));
  }

  @Override
  public byte[] getBinary(int field) {
    return parent(field).getBinary(last(field));
  }

  @Override
  public ArrayData getArray(int field) {
    return parent(field).getArray(last(field));
  }

  @Override
  public MapData getMap(int field) {
    return parent(field).getMap(last(field));
  }

  @Override
  public RowData getRow(int field, int fields) {
    return parent(field).getRow(last(field), fields);
  }

  @Override
  public Variant getVariant(int field) {
    return parent(field).getVariant(last(field));
  }
}
