package io.millrace.arrow;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.HashMap;
import java.util.Map;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Makes host columns of an ArrowArray struct in host memory; see {@link ArrowColumnImporter}.
 *
 * @param hostStream a host stream, open as long as the columns
 * @param resource host memory for what is converted
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
    try (Column rows = readColumn(struct, named(root))) {
      return table(rows, hostStream);
    }
  }

  /** The field of a table under the name that it has in errors. */
  static Field named(Field root) {
    if (!(root.getType() instanceof ArrowType.Struct) || root.getDictionary() != null) {
      throw new ArrowTypeException("a table is a struct array, not " + root.getType());
    }
    return new Field("table", root.getFieldType(), root.getChildren());
  }

  /**
   * The table of a struct column, sharing its memory; the caller owns both.
   *
   * @throws ArrowFormatException if a row is null
   */
  static Table table(Column rows, DeviceStream stream) throws ArrowFormatException {
    int nulls = rows.nullCount(stream);
    if (nulls > 0) {
      throw new ArrowFormatException(nulls + " rows of the table are null");
    }
    return new Table(
        new Schema(rows.type().fields()),
        rows.children().stream().map(column -> column.slice(rows.offset(), rows.size())).toList(),
        rows.size());
  }

  /** As {@link #readTable}, the column of an array of any type. */
  Column readColumn(Buffer struct, Field root) throws ArrowFormatException {
    DataType type = ArrowSchemaConverter.typeOf(root);
    Map<Long, Column> dictionaries = new HashMap<>();
    try (AccessScope scope = AccessScope.on(hostStream)) {
      CArray array = new CArray(struct.access(AccessMode.READ, scope));
      for (CArraySource.DictionaryArray dictionary : CArraySource.dictionaries(array, root)) {
        Field values = dictionary.values();
        DataType valueType = ArrowSchemaConverter.typeOf(values);
        dictionaries.put(
            dictionary.id(),
            readColumn(values, valueType, struct, dictionary.array(), dictionaries));
      }
      return readColumn(root, type, struct, array, dictionaries);
    } finally {
      dictionaries.values().forEach(Column::close);
    }
  }

  private Column readColumn(
      Field field, DataType type, Buffer struct, CArray array, Map<Long, Column> dictionaries)
      throws ArrowFormatException {
    return ArrowColumnImporter.importColumn(
        field,
        type,
        new CArraySource(struct, array, hostStream),
        new ArrowColumnImporter.Target(dictionaries, hostStream, resource));
  }
}
