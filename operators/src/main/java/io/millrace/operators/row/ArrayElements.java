// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RawValueData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.types.RowKind;
import org.apache.flink.types.bitmap.Bitmap;
import org.apache.flink.types.variant.Variant;

/** An array seen as a row of its elements, so that one set of appenders reads both. */
record ArrayElements(ArrayData array) implements RowData {
  @Override
  public int getArity() {
    return array.size();
  }

  @Override
  public RowKind getRowKind() {
    return RowKind.INSERT;
  }

  @Override
  public void setRowKind(RowKind kind) {
    throw new UnsupportedOperationException("an array has no row kind");
  }

  @Override
  public boolean isNullAt(int position) {
    return array.isNullAt(position);
  }

  @Override
  public boolean getBoolean(int position) {
    return array.getBoolean(position);
  }

  @Override
  public byte getByte(int position) {
    return array.getByte(position);
  }

  @Override
  public short getShort(int position) {
    return array.getShort(position);
  }

  @Override
  public int getInt(int position) {
    return array.getInt(position);
  }

  @Override
  public long getLong(int position) {
    return array.getLong(position);
  }

  @Override
  public float getFloat(int position) {
    return array.getFloat(position);
  }

  @Override
  public double getDouble(int position) {
    return array.getDouble(position);
  }

  @Override
  public StringData getString(int position) {
    return array.getString(position);
  }

  @Override
  public DecimalData getDecimal(int position, int precision, int scale) {
    return array.getDecimal(position, precision, scale);
  }

  @Override
  public TimestampData getTimestamp(int position, int precision) {
    return array.getTimestamp(position, precision);
  }

  @Override
  public <T> RawValueData<T> getRawValue(int position) {
    return array.getRawValue(position);
  }

  @Override
  public byte[] getBinary(int position) {
    return array.getBinary(position);
  }

  @Override
  public ArrayData getArray(int position) {
    return array.getArray(position);
  }

  @Override
  public MapData getMap(int position) {
    return array.getMap(position);
  }

  @Override
  public RowData getRow(int position, int fields) {
    return array.getRow(position, fields);
  }

  @Override
  public Bitmap getBitmap(int position) {
    return array.getBitmap(position);
  }

  @Override
  public Variant getVariant(int position) {
    return array.getVariant(position);
  }
}
