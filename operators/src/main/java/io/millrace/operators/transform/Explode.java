// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * Makes of each row one row an element of its list, as Flink SQL's {@code CROSS JOIN UNNEST} does:
 * a row whose list is empty or null vanishes. The outer form, {@code LEFT JOIN UNNEST}, keeps it
 * with a null element. Elements take the list's place, in their order.
 *
 * <p>The host finds out how often each row comes, of the bounds of the lists alone; the rows
 * themselves stay on the device, which is waited for.
 */
@Internal
public final class Explode implements TableTransform {
  private final String column;
  private final int list;
  private final boolean outer;
  private final DeviceContext context;
  private final HostTransfer transfer;

  private Explode(Schema inputSchema, String column, boolean outer, DeviceContext context) {
    this.column = column;
    this.list = inputSchema.indexOf(column);
    this.outer = outer;
    this.context = context;
    this.transfer = new HostTransfer(context);
  }

  /**
   * A factory of transforms of tables of {@code inputSchema}.
   *
   * @param column an ARRAY
   * @param outer whether rows whose list is empty or null stay
   */
  public static Factory factory(Schema inputSchema, String column, boolean outer) {
    return context -> new Explode(inputSchema, column, outer, context);
  }

  /**
   * The columns that come out.
   *
   * @throws IllegalArgumentException if the column does not exist or is no ARRAY
   */
  public static Schema outputSchema(Schema inputSchema, String column, boolean outer) {
    int index = inputSchema.indexOf(column);
    DataType type = inputSchema.type(index);
    if (type.id() != TypeId.LIST) {
      throw new IllegalArgumentException(
          "column '" + column + "' is " + type + ": only an ARRAY has elements");
    }
    Field element = type.fields().get(0);
    List<Field> fields = new ArrayList<>(inputSchema.fields());
    fields.set(index, new Field(column, element.type(), outer || element.nullable()));
    return new Schema(fields);
  }

  @Override
  public Table apply(Table input) {
    Column lists = input.column(list);
    Schema outputSchema = outputSchema(input.schema(), column, outer);
    try (Table maps = positions(lists);
        Table repeated = repeated(input, maps.column(0));
        Table elements = elements(lists, maps.column(1), outputSchema.field(list))) {
      return assemble(outputSchema, repeated, elements.column(0), maps.rowCount());
    }
  }

  private Table positions(Column lists) {
    try (Table bounds = ListPositions.bounds(lists);
        Table host = transfer.toHost(bounds);
        AccessScope scope = AccessScope.on(context.hostStream());
        RowTableBuilder builder = transfer.tableBuilder(ListPositions.SCHEMA)) {
      return transfer.upload(ListPositions.of(host, outer, scope, builder));
    }
  }

  private Table repeated(Table input, Column map) {
    List<String> others =
        input.schema().names().stream().filter(name -> !name.equals(column)).toList();
    try (Table kept = input.select(others)) {
      return Gather.gatherRepeated(kept, map, context.stream(), context.resource());
    }
  }

  private Table elements(Column lists, Column map, Field field) {
    Column elements = lists.child(1);
    boolean needsMask = outer && !elements.isNullable();
    try (Table table =
        new Table(
            new Schema(List.of(field)),
            List.of(needsMask ? withMask(elements) : elements.share()),
            elements.size())) {
      return Gather.gather(table, map, context.stream(), context.resource());
    }
  }

  /** The column with a mask, all of it valid: only then can a gathered element be null. */
  private Column withMask(Column column) {
    Buffer mask =
        Buffer.allocate(
            Column.maskBytes((long) column.offset() + column.size()),
            context.stream(),
            context.resource());
    try (AccessScope scope = AccessScope.on(context.stream())) {
      context.stream().fill(mask.access(AccessMode.WRITE, scope), (byte) -1, mask.size());
    }
    return new Column(
        column.type(),
        column.size(),
        column.offset(),
        column.data().map(Buffer::share).orElse(null),
        mask,
        column.children().stream().map(Column::share).toList());
  }

  private Table assemble(Schema outputSchema, Table repeated, Column elements, int rows) {
    List<Column> columns = new ArrayList<>();
    repeated.columns().forEach(column -> columns.add(column.share()));
    columns.add(list, elements.share());
    return new Table(outputSchema, columns, rows);
  }

  @Override
  public void close() {
    transfer.close();
  }
}
