package io.millrace.arrow;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import org.apache.arrow.c.ArrowArray;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Tables and columns of the structs of the Arrow C device data interface. The counterparts of
 * libcudf's functions:
 *
 * <table>
 * <caption>libcudf's functions and ours</caption>
 * <tr><th>libcudf</th><th>here</th></tr>
 * <tr><td>{@code from_arrow}</td><td>{@link #fromArrow}</td></tr>
 * <tr><td>{@code from_arrow_column}</td><td>{@link #fromArrowColumn}</td></tr>
 * <tr><td>{@code from_arrow_host}</td><td>{@link #fromArrowHost}</td></tr>
 * <tr><td>{@code from_arrow_host_column}</td><td>{@link #fromArrowHostColumn}</td></tr>
 * </table>
 *
 * <p>No schema is ever released, and no array but where it is said.
 *
 * <p>Errors: where libcudf throws {@code std::invalid_argument}, this throws an {@link
 * IllegalArgumentException}; where it throws {@code cudf::data_type_error}, an {@link
 * ArrowTypeException}; and where an array does not hold what its schema says, of which libcudf
 * takes no notice, an {@link ArrowFormatException}. Nothing is held after an error. Used by one
 * thread.
 */
public final class ArrowCDeviceImporter {
  private final BufferAllocator allocator;
  private final DeviceStream hostStream;
  private final MemoryResource hostResource;

  /**
   * @param allocator holds schemas while they are read; stays the caller's
   * @param hostStream a host stream
   * @param hostResource host memory for what is converted on its way to the device
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

  private CArrayReader reader() {
    return new CArrayReader(hostStream, hostResource);
  }

  private Field readSchema(ArrowSchema schema) {
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
    if (input == null) {
      throw new IllegalArgumentException("the array is null");
    }
    if (input.deviceType() != ArrowDeviceType.CPU.code()) {
      throw new IllegalArgumentException(
          "the array is of the Arrow device type " + input.deviceType() + ", not of the host's");
    }
    if (input.syncEvent() != 0) {
      throw new IllegalArgumentException("the host cannot wait for an array's event");
    }
    return input.array();
  }

  private Buffer borrow(CArray array) {
    return Buffer.wrap(array.address(), CArray.BYTES, HostDevice.INSTANCE, hostStream, () -> {});
  }
}
