// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.formats.TableEncoder;
import io.millrace.memory.AccessScope;
import java.util.List;
import java.util.function.IntConsumer;
import org.apache.flink.annotation.Internal;

/**
 * Writes rows as {@code COPY ... FROM STDIN (FORMAT binary)} takes them, each column as the type
 * that {@link PostgresType#sqlName} gives. Makes no object per row.
 *
 * <p>Text with a character of code 0, and bytes that are not UTF-8, are written; PostgreSQL refuses
 * them.
 */
@Internal
public final class CopyBinaryEncoder implements TableEncoder {
  private static final long serialVersionUID = 1L;

  private transient CopyBuffer out;

  @Override
  public String fileSuffix() {
    return ".copy";
  }

  /**
   * The header, which stands before the rows of a COPY.
   *
   * @throws IllegalArgumentException if a type has no form in PostgreSQL; the message has its
   *     column
   */
  @Override
  public byte[] fileStart(Schema schema) {
    for (Field field : schema.fields()) {
      inColumn(field, () -> PostgresType.sqlName(field.type()));
    }
    return CopyFormat.header();
  }

  /** The trailer, which stands behind the rows of a COPY. */
  @Override
  public byte[] fileEnd() {
    return CopyFormat.trailer();
  }

  /**
   * The rows of {@code table}.
   *
   * @throws IllegalArgumentException if a date or timestamp is out of PostgreSQL's range; the
   *     message has the column
   */
  @Override
  public byte[] encode(Table table, AccessScope scope) {
    if (out == null) {
      out = new CopyBuffer();
    }
    out.clear();
    CopyFields fields = new CopyFields(out);
    List<IntConsumer> columns =
        table.columns().stream().map(column -> fields.of(new ColumnReader(column, scope))).toList();
    List<Field> schema = table.schema().fields();
    for (int row = 0; row < table.rowCount(); row++) {
      out.putShort(columns.size());
      for (int i = 0; i < columns.size(); i++) {
        try {
          columns.get(i).accept(row);
        } catch (IllegalArgumentException e) {
          throw inColumn(schema.get(i), e);
        }
      }
    }
    return out.toByteArray();
  }

  private static void inColumn(Field field, Runnable check) {
    try {
      check.run();
    } catch (IllegalArgumentException e) {
      throw inColumn(field, e);
    }
  }

  private static IllegalArgumentException inColumn(Field field, IllegalArgumentException e) {
    return new IllegalArgumentException("column '" + field.name() + "': " + e.getMessage(), e);
  }
}
