// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Builds a table from Java values, whose types are those of {@link ColumnValues}; {@code null}
 * stands for SQL's NULL.
 *
 * <pre>{@code
 * Table table =
 *     new TableBuilder()
 *         .column("id", DataType.INT64, 1, 2, 3)
 *         .column("name", DataType.STRING, "one", null, "three")
 *         .build(device);
 * }</pre>
 */
public final class TableBuilder {
  private final List<Field> fields = new ArrayList<>();
  private final List<List<?>> columns = new ArrayList<>();

  /** A builder that has the columns of {@code schema}, filled with {@code rows}. */
  public static TableBuilder ofRows(Schema schema, List<? extends List<?>> rows) {
    TableBuilder builder = new TableBuilder();
    for (int i = 0; i < schema.size(); i++) {
      List<Object> values = new ArrayList<>();
      for (List<?> row : rows) {
        values.add(row.get(i));
      }
      builder.column(schema.field(i), values);
    }
    return builder;
  }

  /** Adds a nullable column. */
  public TableBuilder column(String name, DataType type, Object... values) {
    return column(Field.of(name, type), Arrays.asList(values));
  }

  /** Adds a column. */
  public TableBuilder column(Field field, List<?> values) {
    fields.add(field);
    columns.add(values);
    return this;
  }

  /** The table in the memory of the test's device; the caller closes it. */
  public Table build(DeviceExtension device) {
    try (Table host = buildOnHost(device)) {
      return device.copyToDevice(host);
    }
  }

  /** The table in the test's host memory; the caller closes it. */
  public Table buildOnHost(DeviceExtension device) {
    return buildOnHost(device.hostStream(), device.hostMemory());
  }

  /**
   * The table in host memory; the caller closes it.
   *
   * @param stream a host stream
   */
  public Table buildOnHost(DeviceStream stream, MemoryResource resource) {
    int rowCount = columns.isEmpty() ? 0 : columns.get(0).size();
    List<Column> built = new ArrayList<>();
    try {
      for (int i = 0; i < columns.size(); i++) {
        built.add(ColumnValues.build(fields.get(i).type(), columns.get(i), stream, resource));
      }
      return new Table(new Schema(fields), built, rowCount);
    } catch (RuntimeException | Error e) {
      built.forEach(Column::close);
      throw e;
    }
  }
}
