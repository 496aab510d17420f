package io.millrace.arrow;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import java.util.List;
import java.util.function.Supplier;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Tables and columns to the structs of the Arrow C device data interface. The counterparts of
 * libcudf's functions:
 *
 * <table>
 * <caption>libcudf's functions and ours</caption>
 * <tr><th>libcudf</th><th>here</th></tr>
 * <tr><td>{@code to_arrow_schema}</td><td>{@link #toArrowSchema(Schema)}</td></tr>
 * <tr><td>{@code to_arrow_host(table_view)}</td><td>{@link #toArrowHost(Table, DeviceStream)}</td></tr>
 * <tr><td>{@code to_arrow_host(column_view)}</td><td>{@link #toArrowHost(Column, DeviceStream)}</td></tr>
 * </table>
 *
 * <p>Decimals become decimal128 of the declared precision, where libcudf, which does not know it,
 * says the widest. Used by one thread.
 */
public final class ArrowCDeviceExporter {
  static final long NO_DEVICE_ID = -1;

  private final BufferAllocator allocator;
  private final DeviceStream hostStream;
  private final MemoryResource hostResource;

  /**
   * @param allocator holds schemas; stays the caller's; closed after all schemas are
   * @param hostStream a host stream, open until all host arrays are released
   * @param hostResource host memory for host arrays
   */
  public ArrowCDeviceExporter(
      BufferAllocator allocator, DeviceStream hostStream, MemoryResource hostResource) {
    this.allocator = allocator;
    this.hostStream = hostStream;
    this.hostResource = hostResource;
  }

  /** The schema of tables, a struct of the columns. The caller or a consumer releases it. */
  public ArrowSchema toArrowSchema(Schema schema) {
    return CSchema.export(schema, allocator);
  }

  /** The schema of a column. The caller or a consumer releases it. */
  public ArrowSchema toArrowSchema(DataType.Field field) {
    return CSchema.export(field, allocator);
  }

  /**
   * A struct array of a copy of {@code table} in host memory, of the device type CPU. It has no
   * ties to the table, which stays the caller's, and no offsets.
   *
   * @param stream a stream of the table's device, which is waited for
   * @return the array; closing it releases it
   */
  public ArrowDeviceArray toArrowHost(Table table, DeviceStream stream) {
    try (Table copy = table.copyTo(hostResource, hostStream, stream)) {
      HostExport export = new HostExport(hostStream, hostResource);
      return toHost(
          export, () -> ExportedArray.table(table.rowCount(), export.arrays(copy.columns())));
    }
  }

  /** As {@link #toArrowHost(Table, DeviceStream)}, an array of one column. */
  public ArrowDeviceArray toArrowHost(Column column, DeviceStream stream) {
    try (Column copy = column.copyTo(hostResource, hostStream, stream)) {
      HostExport export = new HostExport(hostStream, hostResource);
      return toHost(export, () -> export.arrays(List.of(copy)).get(0));
    }
  }

  private static ArrowDeviceArray toHost(HostExport export, Supplier<ExportedArray> arrays) {
    ArrowDeviceArray target = ArrowDeviceArray.allocate();
    try {
      ExportedArray array = arrays.get();
      target.putDevice(ArrowDeviceType.CPU, NO_DEVICE_ID, 0);
      array.export(target.address(), export::close);
      return target;
    } catch (RuntimeException | Error e) {
      target.close();
      export.close();
      throw e;
    }
  }
}
