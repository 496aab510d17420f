// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.slice;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.List;

/**
 * Which slices of time the rows of a column belong to. A slice has a width in milliseconds; slices
 * follow each other without gaps.
 */
@PublicEvolving
public final class TimeSlices {
  private static final PerDevice<SliceKernels> KERNELS =
      new PerDevice<>(host -> new HostSliceKernels(), CudaSliceKernels::new);

  private TimeSlices() {}

  /** The first and the last of some times, in milliseconds since 1970-01-01T00:00. */
  @PublicEvolving
  public record TimeRange(long first, long last) {}

  /**
   * The range of {@code times}. Waits for {@code stream}.
   *
   * @param times a TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits; at least one row
   * @throws IllegalArgumentException if the column has another type, a null, or no row
   */
  public static TimeRange range(Column times, DeviceStream stream, MemoryResource memory) {
    check(times, stream);
    if (times.size() == 0) {
      throw new IllegalArgumentException("expected a time, got an empty column");
    }
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = times.dataAddress(scope);
      return KERNELS.of(stream.device()).range(address, times.size(), stream, memory);
    }
  }

  /**
   * The number of the slice of each row, an INT without nulls. Enqueued on {@code stream}.
   *
   * @param times as in {@link #range}; may be empty
   * @param start of slice 0, in milliseconds; at most the first time
   * @param width of a slice, in milliseconds; there are at most 2^31 slices up to the last time
   */
  public static Column numbers(
      Column times, long start, long width, DeviceStream stream, MemoryResource memory) {
    SliceKernels kernels = KERNELS.of(stream.device());
    return column(
        times,
        DataType.INT32,
        (data, target) -> kernels.numbers(data, times.size(), start, width, target, stream),
        stream,
        memory);
  }

  /**
   * The start of the slice of each row: a TIMESTAMP(3) without nulls, also of instants. Enqueued on
   * {@code stream}.
   *
   * @param times as in {@link #range}; may be empty
   * @param start of a slice, in milliseconds; at most the first time, and at most 2^63-1
   *     milliseconds before the last time
   * @param width of a slice, in milliseconds
   */
  public static Column starts(
      Column times, long start, long width, DeviceStream stream, MemoryResource memory) {
    SliceKernels kernels = KERNELS.of(stream.device());
    return column(
        times,
        DataType.timestamp(3),
        (data, target) -> kernels.starts(data, times.size(), start, width, target, stream),
        stream,
        memory);
  }

  /** Writes values for times; both are addresses. */
  private interface Values {
    void write(long times, long target);
  }

  private static Column column(
      Column times, DataType type, Values values, DeviceStream stream, MemoryResource memory) {
    check(times, stream);
    int rows = times.size();
    Buffer data = Buffer.allocate((long) rows * type.id().byteWidth(), stream, memory);
    try (AccessScope scope = AccessScope.on(stream)) {
      if (rows > 0) {
        values.write(times.dataAddress(scope), data.access(AccessMode.WRITE, scope));
      }
    } catch (RuntimeException | Error e) {
      data.close();
      throw e;
    }
    return new Column(type, rows, 0, data, null, List.of());
  }

  private static void check(Column times, DeviceStream stream) {
    if (times.type().id() != TypeId.TIMESTAMP_MILLIS) {
      throw new IllegalArgumentException("expected times in milliseconds, got " + times.type());
    }
    int nulls = times.nullCount(stream);
    if (nulls > 0) {
      throw new IllegalArgumentException("expected no null among the times, got " + nulls);
    }
  }
}
