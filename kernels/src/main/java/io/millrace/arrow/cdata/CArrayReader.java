// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.ArrowColumnImporter;
import io.millrace.arrow.ArrowContent;
import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowSchemaConverter;
import io.millrace.arrow.ArrowTypeException;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Imports an ArrowArray struct in host memory as host columns; see {@link ArrowColumnImporter}.
 *
 * @param hostStream a host stream, open as long as the columns
 * @param resource host memory for converted columns
 */
record CArrayReader(DeviceStream hostStream, MemoryResource resource) {

  /**
   * The table of a struct array; the caller owns it.
   *
   * @param struct the struct, a slice of which each column keeps
   * @param root in message format
   * @throws ArrowTypeException if {@code root} is not a struct, or a type is not supported
   * @throws ArrowFormatException if the array does not hold what the schema says
   */
  Table readTable(Buffer struct, Field root) throws ArrowFormatException {
    try (Column rows = read(struct, named(root));
        AccessScope scope = AccessScope.on(hostStream)) {
      ArrowContent.checkRows(rows, buffer -> buffer.access(AccessMode.READ, scope));
      return table(rows, hostStream);
    }
  }

  /** The field of a table under the name that it has in errors. */
  static Field named(Field root) {
    if (!(root.getType() instanceof ArrowType.Struct) || root.getDictionary() != null) {
      throw new ArrowTypeException("expected a struct array, got " + root.getType());
    }
    return new Field("table", root.getFieldType(), root.getChildren());
  }

  /**
   * The table of a struct column, sharing its memory; the caller owns both.
   *
   * @param rows whose NOT NULL fields are checked
   * @throws ArrowFormatException if a row is null
   */
  static Table table(Column rows, DeviceStream stream) throws ArrowFormatException {
    int nulls = rows.nullCount(stream);
    if (nulls > 0) {
      throw new ArrowFormatException(nulls + " rows of the table are null");
    }
    List<Column> columns = new ArrayList<>();
    try {
      for (Column column : rows.children()) {
        columns.add(column.slice(rows.offset(), rows.size()));
      }
      return new Table(new Schema(rows.type().fields()), columns, rows.size());
    } catch (RuntimeException | Error e) {
      columns.forEach(Column::close);
      throw e;
    }
  }

  /** As {@link #readTable}, the column of an array of any type. */
  Column readColumn(Buffer struct, Field root) throws ArrowFormatException {
    Column column = read(struct, root);
    boolean done = false;
    try (AccessScope scope = AccessScope.on(hostStream)) {
      ArrowContent.checkNulls(
          List.of(ArrowSchemaConverter.fieldFromArrow(root)),
          List.of(column),
          buffer -> buffer.access(AccessMode.READ, scope));
      done = true;
      return column;
    } finally {
      if (!done) {
        column.close();
      }
    }
  }

  private Column read(Buffer struct, Field root) throws ArrowFormatException {
    DataType type = ArrowSchemaConverter.typeOf(root);
    Map<Long, Column> dictionaries = new HashMap<>();
    try (AccessScope scope = AccessScope.on(hostStream)) {
      CArray array = new CArray(struct.access(AccessMode.READ, scope));
      for (CArraySource.DictionaryArray dictionary : CArraySource.dictionaries(array, root)) {
        Field values = dictionary.values();
        DataType valueType = ArrowSchemaConverter.typeOf(values);
        dictionaries.put(
            dictionary.id(),
            readArray(values, valueType, struct, dictionary.array(), dictionaries));
      }
      return readArray(root, type, struct, array, dictionaries);
    } finally {
      dictionaries.values().forEach(Column::close);
    }
  }

  private Column readArray(
      Field field, DataType type, Buffer struct, CArray array, Map<Long, Column> dictionaries)
      throws ArrowFormatException {
    return ArrowColumnImporter.importColumn(
        field,
        type,
        new CArraySource(struct, array, hostStream),
        new ArrowColumnImporter.Target(dictionaries, hostStream, resource));
  }
}
