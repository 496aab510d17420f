// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * Reads rows of {@code COPY ... TO STDOUT (FORMAT binary)}, without header and trailer, whose
 * columns have the types that {@link PostgresType#sqlName} gives. Makes no object per row. Used by
 * one thread.
 */
@Internal
public final class CopyBinaryDecoder implements AutoCloseable {
  private final RowTableBuilder table;
  private final List<CopyValues.Appender> appenders = new ArrayList<>();

  /**
   * @param table takes the rows; this closes it
   * @throws IllegalArgumentException if a type has no form in PostgreSQL
   */
  public CopyBinaryDecoder(RowTableBuilder table) {
    this.table = table;
    table.columns().forEach(column -> appenders.add(CopyValues.appender(column)));
  }

  /**
   * The rows as a table in the builder's memory; the caller owns it. If this fails, nothing is
   * kept, and the rows can be read again.
   *
   * @param rows whole rows, from its position to its limit
   * @throws GpuOutOfMemoryException if there is no memory for them
   * @throws IllegalArgumentException if a row has another number of fields, or a value that does
   *     not fit its column; the message has the column
   */
  public Table decode(ByteBuffer rows) {
    ByteBuffer in = rows.duplicate();
    try {
      int count = 0;
      for (; in.hasRemaining(); count++) {
        append(in);
      }
      return table.finish(count);
    } catch (RuntimeException | Error e) {
      table.truncate(0);
      throw e;
    }
  }

  private void append(ByteBuffer in) {
    int fields = in.getShort();
    if (fields != appenders.size()) {
      throw new IllegalArgumentException(
          "expected " + appenders.size() + " columns, got " + fields);
    }
    for (int i = 0; i < fields; i++) {
      try {
        append(in, table.column(i), appenders.get(i));
      } catch (IllegalArgumentException e) {
        Field field = table.schema().field(i);
        throw new IllegalArgumentException("column '" + field.name() + "': " + e.getMessage(), e);
      }
    }
  }

  static void append(ByteBuffer in, ColumnBuilder column, CopyValues.Appender appender) {
    int length = in.getInt();
    if (length < 0) {
      column.appendNull();
    } else {
      int end = in.position() + length;
      appender.append(in, length);
      in.position(end);
    }
  }

  @Override
  public void close() {
    table.close();
  }
}
