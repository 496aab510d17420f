// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Serializes schemas. Types are written by name, so that the order of {@link TypeId} may change.
 */
@Internal
public final class SchemaFormat {
  private SchemaFormat() {}

  public static void write(Schema schema, DataOutputView target) throws IOException {
    writeFields(schema.fields(), target);
  }

  public static Schema read(DataInputView source) throws IOException {
    return new Schema(readFields(source));
  }

  private static void writeFields(List<Field> fields, DataOutputView target) throws IOException {
    target.writeInt(fields.size());
    for (Field field : fields) {
      DataType type = field.type();
      target.writeUTF(field.name());
      target.writeBoolean(field.nullable());
      target.writeUTF(type.id().name());
      target.writeByte(type.precision());
      target.writeByte(type.scale());
      target.writeBoolean(type.withTimeZone());
      writeFields(type.fields(), target);
    }
  }

  private static List<Field> readFields(DataInputView source) throws IOException {
    int count = source.readInt();
    if (count < 0) {
      throw new IOException("expected a schema with 0 or more fields, got " + count);
    }
    List<Field> fields = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String name = source.readUTF();
      boolean nullable = source.readBoolean();
      TypeId id = readTypeId(source);
      int precision = source.readByte();
      int scale = source.readByte();
      boolean withTimeZone = source.readBoolean();
      DataType type = new DataType(id, precision, scale, withTimeZone, readFields(source));
      fields.add(new Field(name, type, nullable));
    }
    return fields;
  }

  private static TypeId readTypeId(DataInputView source) throws IOException {
    String name = source.readUTF();
    try {
      return TypeId.valueOf(name);
    } catch (IllegalArgumentException e) {
      throw new IOException("expected the name of a data type, got '" + name + "'", e);
    }
  }
}
