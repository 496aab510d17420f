// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import io.millrace.column.Column;
import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;

/** Appends values of LIST and STRUCT vectors to a new column in host memory. */
final class NestedColumnWriter implements VectorWriter {
  private final ColumnBuilder column;

  NestedColumnWriter(DataType type, AccessScope scope, MemoryResource memory) {
    this.column = ColumnBuilder.of(type, scope.stream(), memory);
  }

  @Override
  public void append(HostVector values, Rows selected) {
    for (int i = 0; i < selected.count(); i++) {
      NestedValues.append(values, selected.position(i), column);
    }
  }

  @Override
  public Column finish() {
    return column.finish();
  }

  @Override
  public void close() {
    column.close();
  }
}
