// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.explode;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/**
 * Replaces each row with one row per element of its list, as Flink SQL's {@code CROSS JOIN UNNEST}
 * does: a row with an empty or null list is dropped. The outer form, {@code LEFT JOIN UNNEST},
 * keeps it with a null element. The elements replace the list and keep their order.
 *
 * <p>{@link ListPositions} computes on the host which rows and elements come out; this gathers them
 * on the device.
 */
@PublicEvolving
public final class Explode {
  private Explode() {}

  /**
   * The columns of the result.
   *
   * @param outer whether a row with an empty or null list is kept
   * @throws IllegalArgumentException if the column does not exist or is not an ARRAY
   */
  public static Schema outputSchema(Schema inputSchema, String column, boolean outer) {
    int index = inputSchema.indexOf(column);
    DataType type = inputSchema.type(index);
    if (type.id() != TypeId.LIST) {
      throw new IllegalArgumentException(
          "expected an ARRAY for column '" + column + "', got " + type);
    }
    Field element = type.fields().get(0);
    List<Field> fields = new ArrayList<>(inputSchema.fields());
    fields.set(index, new Field(column, element.type(), outer || element.nullable()));
    return new Schema(fields);
  }

  /**
   * Explodes a table. The work is enqueued on {@code stream}; the caller closes the result.
   *
   * @param input has the column
   * @param column an ARRAY
   * @param outer whether {@code positions} keep rows with empty or null lists
   * @param positions a table of {@link ListPositions#SCHEMA} on the device of {@code input}, which
   *     stays the caller's
   * @param memory of the result
   * @throws GpuOutOfMemoryException if there is no memory for the result; nothing is held then
   */
  public static Table explode(
      Table input,
      String column,
      boolean outer,
      Table positions,
      DeviceStream stream,
      MemoryResource memory) {
    int list = input.schema().indexOf(column);
    Schema outputSchema = outputSchema(input.schema(), column, outer);
    try (Table kept = others(input, column);
        Table repeated = Gather.gatherRepeated(kept, positions.column(0), stream, memory);
        Table lists =
            elements(input.column(list), outer, outputSchema.field(list), stream, memory);
        Table elements = Gather.gather(lists, positions.column(1), stream, memory)) {
      List<Column> columns = new ArrayList<>();
      repeated.columns().forEach(other -> columns.add(other.share()));
      columns.add(list, elements.column(0).share());
      return new Table(outputSchema, columns, positions.rowCount());
    }
  }

  private static Table others(Table input, String column) {
    return input.select(
        input.schema().names().stream().filter(name -> !name.equals(column)).toList());
  }

  private static Table elements(
      Column lists, boolean outer, Field field, DeviceStream stream, MemoryResource memory) {
    Column elements = lists.child(1);
    boolean needsMask = outer && !elements.isNullable();
    return new Table(
        new Schema(List.of(field)),
        List.of(needsMask ? withMask(elements, stream, memory) : elements.share()),
        elements.size());
  }

  /** The column with an all-valid mask: only then can a gathered element be null. */
  private static Column withMask(Column column, DeviceStream stream, MemoryResource memory) {
    Buffer mask =
        Buffer.allocate(Column.maskBytes((long) column.offset() + column.size()), stream, memory);
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.fill(mask.access(AccessMode.WRITE, scope), (byte) -1, mask.size());
    }
    return new Column(
        column.type(),
        column.size(),
        column.offset(),
        column.data().map(Buffer::share).orElse(null),
        mask,
        column.children().stream().map(Column::share).toList());
  }
}
