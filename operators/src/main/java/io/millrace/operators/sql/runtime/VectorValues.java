// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.expression.vector.HostVector;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;

/** Values of a type of Flink's in vectors, as objects of its conversion class. */
interface VectorValues {
  /** The value of a row; null if it is null. */
  Object read(HostVector vector, int row);

  /** Sets a row to a value, which may be null. */
  void write(HostVector vector, int row, Object value);

  /** The values of {@code type}. */
  static VectorValues of(DataType type) {
    if (type.getLogicalType().is(LogicalTypeFamily.CHARACTER_STRING)
        && type.getConversionClass() == String.class) {
      return new Texts();
    }
    InternalValues internal = new InternalValues(type.getLogicalType());
    DataStructureConverter<Object, Object> converter = DataStructureConverters.getConverter(type);
    converter.open(Thread.currentThread().getContextClassLoader());
    return converter.isIdentityConversion() ? internal : new Converted(internal, converter);
  }

  /** Strings without a step between. */
  final class Texts implements VectorValues {
    @Override
    public Object read(HostVector vector, int row) {
      return vector.isNull(row) ? null : vector.getString(row);
    }

    @Override
    public void write(HostVector vector, int row, Object value) {
      if (value == null) {
        vector.setNull(row);
      } else {
        vector.setString(row, (String) value);
      }
    }
  }

  /** Values that Flink's converter makes of those of its rows, and back. */
  record Converted(InternalValues internal, DataStructureConverter<Object, Object> converter)
      implements VectorValues {
    @Override
    public Object read(HostVector vector, int row) {
      return converter.toExternalOrNull(internal.read(vector, row));
    }

    @Override
    public void write(HostVector vector, int row, Object value) {
      internal.write(vector, row, converter.toInternalOrNull(value));
    }
  }
}
