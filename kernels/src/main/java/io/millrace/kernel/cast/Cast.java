// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.cast;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.device.PerDevice;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.List;

/**
 * Casts between the numeric types, with Java's conversions: integers wrap, floating point to
 * integer saturates and maps NaN to 0. Nulls stay null. Flink SQL's CAST has the same semantics.
 */
@PublicEvolving
public final class Cast {
  private static final List<TypeId> NUMERIC =
      List.of(
          TypeId.INT8, TypeId.INT16, TypeId.INT32, TypeId.INT64, TypeId.FLOAT32, TypeId.FLOAT64);
  private static final int THREADS = 256;

  /** The structure {@code CastArguments} of cast.cu. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("CastArguments");
    static final KernelStructure.Int64 INPUT = LAYOUT.int64("input");
    static final KernelStructure.Int64 OUTPUT = LAYOUT.int64("output");
    static final KernelStructure.Int64 ROWS = LAYOUT.int64("rows");
    static final KernelStructure.Int32 FROM = LAYOUT.int32("from");
    static final KernelStructure.Int32 TO = LAYOUT.int32("to");

    private Arguments() {}
  }

  /** Converts the values of {@code input}, from address to address. */
  private interface Conversion {
    void convert(
        long inputAddress, long outputAddress, Column input, DataType target, DeviceStream stream);
  }

  private static final PerDevice<Conversion> CONVERSIONS =
      new PerDevice<>(host -> Cast::convertOnHost, gpu -> Cast::launch);

  private static final int MASK_PADDING_ROWS = Column.MASK_PADDING_BYTES * Byte.SIZE;

  private Cast() {}

  /** Whether {@link #cast} supports the conversion: numeric to numeric, or to the same type. */
  public static boolean isSupported(DataType from, DataType to) {
    return from.equals(to) || (NUMERIC.contains(from.id()) && NUMERIC.contains(to.id()));
  }

  /**
   * Casts the values of {@code input}. The result shares the input's mask, and all of the input if
   * the type stays the same. Its own memory is no larger than the input's rows need, also if the
   * input is a slice. Enqueued on {@code stream}; does not wait.
   *
   * @throws IllegalArgumentException if the cast is not supported
   */
  public static Column cast(
      Column input, DataType target, DeviceStream stream, MemoryResource resource) {
    if (!isSupported(input.type(), target)) {
      throw new IllegalArgumentException("cannot cast " + input.type() + " to " + target);
    }
    if (input.type().equals(target)) {
      return input.share();
    }
    // Masks can be sliced only at whole units of padding; the output's offset covers the rest.
    int offset = input.offset() % MASK_PADDING_ROWS;
    long maskStart = ((long) input.offset() - offset) / Byte.SIZE;
    long end = (long) offset + input.size();
    Buffer output = Buffer.allocate(end * target.id().byteWidth(), stream, resource);
    try (AccessScope scope = AccessScope.on(stream)) {
      long from = input.offset() * (long) input.type().id().byteWidth();
      long to = offset * (long) target.id().byteWidth();
      long inputAddress = input.data().orElseThrow().access(AccessMode.READ, scope) + from;
      long outputAddress = output.access(AccessMode.WRITE, scope) + to;
      if (input.size() > 0) {
        CONVERSIONS.of(stream.device()).convert(inputAddress, outputAddress, input, target, stream);
      }
    } catch (RuntimeException | Error e) {
      output.close();
      throw e;
    }
    Buffer mask =
        input.validity().map(bits -> bits.slice(maskStart, bits.size() - maskStart)).orElse(null);
    return new Column(target, input.size(), offset, output, mask, List.of());
  }

  private static void convertOnHost(
      long inputAddress, long outputAddress, Column input, DataType target, DeviceStream stream) {
    for (int row = 0; row < input.size(); row++) {
      convertElement(input.type().id(), inputAddress, target.id(), outputAddress, row);
    }
  }

  private static void launch(
      long inputAddress, long outputAddress, Column input, DataType target, DeviceStream stream) {
    KernelModule module = stream.device().loadModule("cast");
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.INPUT, inputAddress)
          .put(Arguments.OUTPUT, outputAddress)
          .put(Arguments.ROWS, input.size())
          .put(Arguments.FROM, NUMERIC.indexOf(input.type().id()))
          .put(Arguments.TO, NUMERIC.indexOf(target.id()));
      int blocks = (input.size() - 1) / THREADS + 1;
      module.function("cast").launch(blocks, THREADS, 0, stream, arguments);
    }
  }

  private static void convertElement(TypeId from, long input, TypeId to, long output, long row) {
    switch (from) {
      case INT8 -> storeLong(HostMemory.getByte(input + row), to, output, row);
      case INT16 -> storeLong(HostMemory.getShort(input + row * Short.BYTES), to, output, row);
      case INT32 -> storeLong(HostMemory.getInt(input + row * Integer.BYTES), to, output, row);
      case INT64 -> storeLong(HostMemory.getLong(input + row * Long.BYTES), to, output, row);
      case FLOAT32 -> storeDouble(HostMemory.getFloat(input + row * Float.BYTES), to, output, row);
      case FLOAT64 ->
          storeDouble(HostMemory.getDouble(input + row * Double.BYTES), to, output, row);
      default -> throw new IllegalArgumentException(from + " is not numeric");
    }
  }

  private static void storeLong(long value, TypeId to, long output, long row) {
    switch (to) {
      case INT8 -> HostMemory.putByte(output + row, (byte) value);
      case INT16 -> HostMemory.putShort(output + row * Short.BYTES, (short) value);
      case INT32 -> HostMemory.putInt(output + row * Integer.BYTES, (int) value);
      case INT64 -> HostMemory.putLong(output + row * Long.BYTES, value);
      case FLOAT32 -> HostMemory.putFloat(output + row * Float.BYTES, (float) value);
      case FLOAT64 -> HostMemory.putDouble(output + row * Double.BYTES, (double) value);
      default -> throw new IllegalArgumentException(to + " is not numeric");
    }
  }

  // Widening a float to a double is exact, so the result is the same as of a direct cast.
  private static void storeDouble(double value, TypeId to, long output, long row) {
    switch (to) {
      case INT8, INT16, INT32 -> storeLong((int) value, to, output, row);
      case INT64 -> HostMemory.putLong(output + row * Long.BYTES, (long) value);
      case FLOAT32 -> HostMemory.putFloat(output + row * Float.BYTES, (float) value);
      case FLOAT64 -> HostMemory.putDouble(output + row * Double.BYTES, value);
      default -> throw new IllegalArgumentException(to + " is not numeric");
    }
  }
}
