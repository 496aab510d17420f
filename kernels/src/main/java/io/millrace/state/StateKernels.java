// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.FirstFailure;
import io.millrace.state.StateInput.SumColumn;
import java.util.List;
import java.util.function.Supplier;

/**
 * The operations on state, on the host or by the kernels of state.cu. Both write the same rows and
 * results; only the slots of the index differ.
 */
interface StateKernels {

  /**
   * How many keys a batch changed.
   *
   * @param changedKeys distinct keys of the batch
   * @param newKeys how many of them were not in the state
   * @param stringWords words that their long strings take
   */
  record Counts(int changedKeys, int newKeys, long stringWords) {
    static final Counts NONE = new Counts(0, 0, 0);
  }

  /**
   * Combines the values of a batch with the state. The index and the chunks have room for as many
   * new keys as the batch has rows, and for their long strings. Allocates nothing but staging
   * memory, and that before anything is written. Leaves the zeros of the scratch memory as they
   * were. Waits for the counts; what is written is ordered by the batch's stream.
   */
  Counts update(StateBatch batch);

  /** Whether {@link #update} copies rows in host memory to the device and back. */
  default boolean stagesRows() {
    return false;
  }

  /**
   * Runs work behind the first kernel that writes to the state. If it fails, waits for the stream:
   * kernels may still write to memory that the caller then gives back.
   *
   * @throws IllegalStateException if memory ran out, such as for the code of a kernel: the batch
   *     must not be repeated, as it would count twice
   */
  static <T> T afterFirstWrite(DeviceStream stream, Supplier<T> work) {
    try {
      return work.get();
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e instanceof GpuOutOfMemoryException ? afterWrite(e) : e);
      failure.run(stream::synchronize);
      failure.rethrow();
      throw e;
    }
  }

  private static IllegalStateException afterWrite(Throwable e) {
    return new IllegalStateException("memory ran out after a batch had changed the state", e);
  }

  /**
   * Writes the mask of a column of sums: whether a sum has up to 38 digits. Enqueued.
   *
   * @param rows at least 1
   */
  void maskOverflows(SumColumn column, long rows, DeviceStream stream);

  /** Writes the masks of columns of sums. Enqueued. */
  default void maskOverflows(List<SumColumn> columns, long rows, DeviceStream stream) {
    columns.forEach(column -> maskOverflows(column, rows, stream));
  }

  /**
   * Adds the entries of one index to another, which has room for them. Enqueued.
   *
   * @param slots a power of two
   */
  void moveIndex(long source, long slots, long target, long targetSlots, DeviceStream stream);
}
