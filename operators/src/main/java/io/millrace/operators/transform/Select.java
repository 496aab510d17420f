package io.millrace.operators.transform;

import io.millrace.column.Column;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.kernel.Cast;
import io.millrace.memory.MemoryResource;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** Selects, renames and casts columns: table in, table out. */
public final class Select implements Serializable {
  private static final long serialVersionUID = 1L;

  private final List<Projection> projections;
  private final Schema outputSchema;

  /**
   * @throws IllegalArgumentException if a source column does not exist, a cast is not supported or
   *     two targets share a name
   */
  public Select(Schema inputSchema, List<Projection> projections) {
    this.projections = List.copyOf(projections);
    this.outputSchema = new Schema(projections.stream().map(Projection::target).toList());
    for (Projection projection : projections) {
      Field source = inputSchema.field(inputSchema.indexOf(projection.source()));
      if (!Cast.isSupported(source.type(), projection.target().type())) {
        throw new IllegalArgumentException(
            "cannot cast column '"
                + source.name()
                + "' from "
                + source.type()
                + " to "
                + projection.target().type());
      }
    }
  }

  public Schema outputSchema() {
    return outputSchema;
  }

  /**
   * The selected columns as a new table, which shares the memory of columns that are not cast. The
   * input stays the caller's. Enqueued on {@code stream}; does not wait.
   */
  public Table apply(Table input, DeviceStream stream, MemoryResource resource) {
    List<Column> columns = new ArrayList<>();
    try {
      for (Projection projection : projections) {
        columns.add(
            Cast.cast(
                input.column(projection.source()), projection.target().type(), stream, resource));
      }
      return new Table(outputSchema, columns, input.rowCount());
    } catch (RuntimeException | Error e) {
      columns.forEach(Column::close);
      throw e;
    }
  }
}
