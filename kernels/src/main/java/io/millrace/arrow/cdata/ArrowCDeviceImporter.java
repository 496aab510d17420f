// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.annotation.PublicEvolving;
import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowSchemaConverter;
import io.millrace.arrow.ArrowTypeException;
import io.millrace.column.Column;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TableConcatenation;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.c.ArrowArray;
import org.apache.arrow.c.ArrowArrayStream;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Tables and columns of the structs of the Arrow C device data interface. The counterparts of
 * libcudf's functions:
 *
 * <ul>
 *   <li>{@code from_arrow}: {@link #fromArrow}
 *   <li>{@code from_arrow_column}: {@link #fromArrowColumn}
 *   <li>{@code from_arrow_host}: {@link #fromArrowHost}
 *   <li>{@code from_arrow_host_column}: {@link #fromArrowHostColumn}
 *   <li>{@code from_arrow_stream}: {@link #fromArrowStream}
 *   <li>{@code from_arrow_device}: {@link #fromArrowDevice}
 *   <li>{@code from_arrow_device_column}: {@link #fromArrowDeviceColumn}
 * </ul>
 *
 * <p>No schema is ever released, and no array but where it is said.
 *
 * <p>Errors: where libcudf throws {@code std::invalid_argument}, this throws an {@link
 * IllegalArgumentException}; where it throws {@code cudf::data_type_error}, an {@link
 * ArrowTypeException}; and where an array does not hold what its schema says, of which libcudf
 * takes no notice, an {@link ArrowFormatException}. Nothing is held after an error. Used by one
 * thread.
 */
@PublicEvolving
public final class ArrowCDeviceImporter {
  private final BufferAllocator allocator;
  private final DeviceStream hostStream;
  private final MemoryResource hostResource;

  /**
   * @param allocator holds schemas while they are read; owned by the caller
   * @param hostStream a host stream
   * @param hostResource host memory for conversions before copies to the device
   */
  public ArrowCDeviceImporter(
      BufferAllocator allocator, DeviceStream hostStream, MemoryResource hostResource) {
    this.allocator = allocator;
    this.hostStream = hostStream;
    this.hostResource = hostResource;
  }

  /**
   * A copy of a struct array in host memory, whose children become the columns. The array may be
   * released after this.
   *
   * @param stream orders the table; open as long
   * @param resource memory for the table, of the stream's device
   * @return the table; the caller owns it
   * @throws IllegalArgumentException if a struct is null or released
   * @throws ArrowTypeException if the array is not a struct array, or a type is not supported
   * @throws ArrowFormatException if the array does not hold what the schema says
   */
  public Table fromArrow(
      ArrowSchema schema, ArrowArray input, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    Field root = readSchema(schema);
    try (Buffer struct = borrow(arrayOf(input));
        Table host = reader().readTable(struct, root)) {
      return host.copyTo(resource, stream, stream);
    }
  }

  /**
   * As {@link #fromArrow}, an array of any type as a column.
   *
   * @throws IllegalArgumentException if a struct is null or released
   * @throws ArrowTypeException if the type is not supported
   * @throws ArrowFormatException if the array does not hold what the schema says
   */
  public Column fromArrowColumn(
      ArrowSchema schema, ArrowArray input, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    Field root = readSchema(schema);
    try (Buffer struct = borrow(arrayOf(input));
        Column host = reader().readColumn(struct, root)) {
      return host.copyTo(resource, stream, stream);
    }
  }

  /**
   * As {@link #fromArrow}.
   *
   * @throws IllegalArgumentException if a struct is null or released, or the device type is not CPU
   * @throws ArrowTypeException if the array is not a struct array, or a type is not supported
   * @throws ArrowFormatException if the array does not hold what the schema says
   */
  public Table fromArrowHost(
      ArrowSchema schema, ArrowDeviceArray input, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    return fromArrow(schema, hostArray(input), stream, resource);
  }

  /**
   * As {@link #fromArrowHost}, an array of any type as a column.
   *
   * @throws IllegalArgumentException if a struct is null or released, or the device type is not CPU
   * @throws ArrowTypeException if the type is not supported
   * @throws ArrowFormatException if the array does not hold what the schema says
   */
  public Column fromArrowHostColumn(
      ArrowSchema schema, ArrowDeviceArray input, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    return fromArrowColumn(schema, hostArray(input), stream, resource);
  }

  /**
   * A copy of all struct arrays of a stream, one after the other. Releases the stream, its schema
   * and its arrays, also if this throws.
   *
   * @param stream orders the table; open as long
   * @param resource memory for the table, of the stream's device
   * @return the table; the caller owns it
   * @throws IllegalArgumentException if the struct is null or released
   * @throws ArrowTypeException if the arrays are not struct arrays, or a type is not supported
   * @throws ArrowFormatException if an array does not hold what the schema says
   * @throws IOException if the stream's producer fails
   */
  public Table fromArrowStream(ArrowArrayStream input, DeviceStream stream, MemoryResource resource)
      throws IOException {
    if (input == null || input.memoryAddress() == 0) {
      throw new IllegalArgumentException("the stream is null");
    }
    if (input.snapshot().release == 0) {
      throw new IllegalArgumentException("the stream is released");
    }
    List<Table> tables = new ArrayList<>();
    try (Table host = concatenate(readAll(input, tables), tables)) {
      return host.copyTo(resource, stream, stream);
    } finally {
      tables.forEach(Table::close);
      input.release();
    }
  }

  private Schema readAll(ArrowArrayStream input, List<Table> tables) throws IOException {
    Field root = CArrayReader.named(readSchema(input));
    try (ArrowArray array = ArrowArray.allocateNew(allocator)) {
      while (true) {
        input.getNext(array);
        if (array.snapshot().release == 0) {
          return new Schema(ArrowSchemaConverter.typeOf(root).fields());
        }
        try (Buffer taken = ArrowCDataInterface.take(array, allocator, hostStream)) {
          tables.add(reader().readTable(taken, root));
        }
      }
    }
  }

  private Field readSchema(ArrowArrayStream input) throws IOException {
    try (ArrowSchema schema = ArrowSchema.allocateNew(allocator)) {
      input.getSchema(schema);
      try {
        return CSchema.read(schema, allocator);
      } finally {
        schema.release();
      }
    }
  }

  private Table concatenate(Schema schema, List<Table> tables) {
    return tables.size() == 1
        ? tables.get(0).share()
        : TableConcatenation.concatenate(schema, tables, hostStream, hostResource);
  }

  /**
   * A table over the children of a struct array in memory that the stream's device reaches. The
   * table must be closed before the array is released, which the caller does. The table owns the
   * converted parts: BOOL, decimals of up to 18 digits, times and timestamps of other units, 64-bit
   * offsets, dictionary codes that are not of 32 bits, masks without padding to 64 bytes,
   * misaligned buffers.
   *
   * <p>Later work of {@code stream} waits for the array's {@code sync_event}; the host does not,
   * unless it must learn something of the content. It waits once for all of that: how long strings,
   * binaries and lists are, whether decimals are within their precision, and whether NOT NULL
   * columns that have a mask have nulls, where {@code null_count} leaves that open. Other content
   * of buffers is trusted on a GPU; on the host it is checked as {@link #fromArrow} does.
   *
   * @param stream what conversions are enqueued on; orders the table's memory; open as long. On a
   *     GPU the array must be of the type CUDA, CUDA_HOST or CUDA_MANAGED; for a stream of the
   *     host, whose device memory is the host's, of the type CPU
   * @param resource memory of the stream's device for what is converted
   * @return the table; the caller owns it
   * @throws IllegalArgumentException if a struct is null or released, the device type is another,
   *     or the array is on another GPU
   * @throws ArrowTypeException if the array is not a struct array, or a type is not supported
   * @throws ArrowFormatException if the structs do not have the schema's shape, offsets end outside
   *     of what they point into, a decimal has more digits than its type, or a NOT NULL column has
   *     nulls
   */
  public Table fromArrowDevice(
      ArrowSchema schema, ArrowDeviceArray input, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    Field root = CArrayReader.named(readSchema(schema));
    CArray array = deviceArray(input, stream);
    try (Column rows = DeviceImport.importRows(root, array, stream, resource)) {
      return CArrayReader.table(rows, stream);
    }
  }

  /**
   * As {@link #fromArrowDevice}, an array of any type as a column.
   *
   * @throws IllegalArgumentException as {@link #fromArrowDevice}
   * @throws ArrowTypeException if the type is not supported
   * @throws ArrowFormatException as {@link #fromArrowDevice}
   */
  public Column fromArrowDeviceColumn(
      ArrowSchema schema, ArrowDeviceArray input, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    Field root = readSchema(schema);
    return DeviceImport.importColumn(root, deviceArray(input, stream), stream, resource);
  }

  /** The array, behind whose event {@code stream} is ordered. */
  private static CArray deviceArray(ArrowDeviceArray input, DeviceStream stream) {
    checkNotNull(input);
    CArray array = checkNotReleased(new CArray(input.address()));
    if (stream.device().isHostAccessible()) {
      checkHostArray(input);
      return array;
    }
    ArrowDeviceType type = ArrowDeviceType.of(input.deviceType());
    if (type == ArrowDeviceType.CPU) {
      throw new IllegalArgumentException("the array is in host memory that the GPU does not reach");
    }
    boolean isOfOneGpu = type == ArrowDeviceType.CUDA;
    if (isOfOneGpu && input.deviceId() != stream.device().index()) {
      throw new IllegalArgumentException(
          "the array is on GPU " + input.deviceId() + ", not on " + stream.device().index());
    }
    if (input.syncEvent() != 0) {
      stream.waitForHandle(HostMemory.getLong(input.syncEvent()));
    }
    return array;
  }

  private CArrayReader reader() {
    return new CArrayReader(hostStream, hostResource);
  }

  private Field readSchema(ArrowSchema schema) throws ArrowFormatException {
    if (schema == null || schema.memoryAddress() == 0) {
      throw new IllegalArgumentException("the schema is null");
    }
    if (schema.snapshot().release == 0) {
      throw new IllegalArgumentException("the schema is released");
    }
    return CSchema.read(schema, allocator);
  }

  private static CArray arrayOf(ArrowArray input) {
    if (input == null || input.memoryAddress() == 0) {
      throw new IllegalArgumentException("the array is null");
    }
    return checkNotReleased(new CArray(input.memoryAddress()));
  }

  private static CArray checkNotReleased(CArray array) {
    if (array.isReleased()) {
      throw new IllegalArgumentException("the array is released");
    }
    return array;
  }

  private static ArrowArray hostArray(ArrowDeviceArray input) {
    checkNotNull(input);
    checkHostArray(input);
    return input.array();
  }

  private static void checkNotNull(ArrowDeviceArray input) {
    if (input == null) {
      throw new IllegalArgumentException("the array is null");
    }
  }

  private static void checkHostArray(ArrowDeviceArray input) {
    if (input.deviceType() != ArrowDeviceType.CPU.code()) {
      throw new IllegalArgumentException(
          "the array is of the Arrow device type " + input.deviceType() + ", not of the host's");
    }
    if (input.syncEvent() != 0) {
      throw new IllegalArgumentException("the host cannot wait for an array's event");
    }
  }

  private Buffer borrow(CArray array) {
    return Buffer.wrap(
        array.address(), CArray.BYTES, hostStream, HostMemoryResource.INSTANCE, () -> {});
  }
}
