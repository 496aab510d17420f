// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.MemoryResource;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Tables and columns to the structs of the Arrow C device data interface. The counterparts of
 * libcudf's functions:
 *
 * <ul>
 *   <li>{@code to_arrow_schema}: {@link #toArrowSchema(Schema)}
 *   <li>{@code to_arrow_device(table&&)}: {@link #toArrowDevice(Table, DeviceStream,
 *       MemoryResource)}
 *   <li>{@code to_arrow_device(column&&)}: {@link #toArrowDevice(Column, DeviceStream,
 *       MemoryResource)}
 *   <li>{@code to_arrow_device(table_view)}: {@link #viewToArrowDevice(Table, DeviceStream,
 *       MemoryResource)}
 *   <li>{@code to_arrow_device(column_view)}: {@link #viewToArrowDevice(Column, DeviceStream,
 *       MemoryResource)}
 *   <li>{@code to_arrow_host(table_view)}: {@link #toArrowHost(Table, DeviceStream)}
 *   <li>{@code to_arrow_host(column_view)}: {@link #toArrowHost(Column, DeviceStream)}
 * </ul>
 *
 * <p>Decimals become decimal128 of the declared precision, where libcudf, which does not know it,
 * says the widest. Used by one thread.
 */
@PublicEvolving
public final class ArrowCDeviceExporter {
  private final BufferAllocator allocator;
  private final DeviceStream hostStream;
  private final MemoryResource hostResource;

  /**
   * @param allocator holds schemas; owned by the caller; closed after all schemas
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
   * Exports {@code table} as a struct array that owns the table: releasing the array closes the
   * table. The memory stays in place and is exposed; parts that are laid out differently or shared
   * with other tables are copied. If this throws, the caller still owns the table.
   *
   * <p>On a GPU the device type is CUDA, and {@code sync_event} is recorded after all work that the
   * array needs, which this does not wait for; the array owns the event as it owns the memory. On
   * the host the type is CPU.
   *
   * @param stream a stream of the table's device, open, like the stream of the table's memory,
   *     until the array is released
   * @param resource memory of that device for what is copied
   * @return the array, which its receiver releases; closing it releases it
   * @throws IllegalArgumentException if the table is on another device
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no room for what is copied
   */
  public ArrowDeviceArray toArrowDevice(Table table, DeviceStream stream, MemoryResource resource) {
    return toDevice(
        new DeviceExport(stream, resource, false),
        export -> export.array(table),
        table::close,
        stream);
  }

  /** As {@link #toArrowDevice(Table, DeviceStream, MemoryResource)}, an array of one column. */
  public ArrowDeviceArray toArrowDevice(
      Column column, DeviceStream stream, MemoryResource resource) {
    return toDevice(
        new DeviceExport(stream, resource, false),
        export -> export.array(column),
        column::close,
        stream);
  }

  /**
   * A struct array over the memory of {@code table}, which the caller keeps; consumers only read
   * it. Only parts that are laid out differently are copied. Until the array is released the memory
   * lives, even if the table is closed, and stays in place; a write to another buffer over the same
   * memory moves that buffer to a copy. Device type and {@code sync_event} are those of {@link
   * #toArrowDevice(Table, DeviceStream, MemoryResource)}.
   *
   * @param stream a stream of the table's device, open, like the stream of the table's memory,
   *     until the array is released. The consumer's work is ordered before the release by the
   *     consumer
   * @param resource memory of that device for what is laid out otherwise
   * @return the array, which its receiver releases; closing it releases it
   * @throws IllegalArgumentException if the table is on another device
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no room for what is made or for
   *     spilled memory
   */
  public ArrowDeviceArray viewToArrowDevice(
      Table table, DeviceStream stream, MemoryResource resource) {
    return toDevice(
        new DeviceExport(stream, resource, true), export -> export.array(table), () -> {}, stream);
  }

  /** As {@link #viewToArrowDevice(Table, DeviceStream, MemoryResource)}, an array of one column. */
  public ArrowDeviceArray viewToArrowDevice(
      Column column, DeviceStream stream, MemoryResource resource) {
    return toDevice(
        new DeviceExport(stream, resource, true), export -> export.array(column), () -> {}, stream);
  }

  private static ArrowDeviceArray toDevice(
      DeviceExport export,
      Function<DeviceExport, ExportedArray> arrays,
      Runnable closeInput,
      DeviceStream stream) {
    ArrowDeviceArray target = ArrowDeviceArray.allocate();
    try {
      ExportedArray array = arrays.apply(export);
      Device device = stream.device();
      target.putDevice(type(device.kind()), device.index(), export.finish());
      array.export(target.address(), () -> close(export, closeInput));
      return target;
    } catch (RuntimeException | Error e) {
      target.close();
      export.close();
      throw e;
    }
  }

  private static ArrowDeviceType type(DeviceKind kind) {
    return switch (kind) {
      case HOST -> ArrowDeviceType.CPU;
      case CUDA -> ArrowDeviceType.CUDA;
    };
  }

  private static void close(DeviceExport export, Runnable closeInput) {
    try {
      closeInput.run();
    } finally {
      export.close();
    }
  }

  /**
   * A struct array of a copy of {@code table} in host memory, of the device type CPU. It has no
   * ties to the table, which the caller still owns, and no offsets.
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
      target.putDevice(ArrowDeviceType.CPU, HostDevice.INSTANCE.index(), 0);
      array.export(target.address(), export::close);
      return target;
    } catch (RuntimeException | Error e) {
      target.close();
      export.close();
      throw e;
    }
  }
}
