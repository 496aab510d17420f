// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batch;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.flink.annotation.Internal;

/**
 * The event times of the rows of a batch that is being built. On the heap until the batch is
 * closed, so that a row's time never runs out of device memory behind its columns. Used by one
 * thread.
 */
@Internal
public final class EventTimes {
  private static final int INITIAL_ROWS = 1 << 10;

  private final DeviceStream stream;
  private final MemoryResource resource;
  private long[] times = {};
  private boolean anyKnown;

  /**
   * @param stream a host stream
   * @param resource host memory, where {@link #column} is made
   */
  public EventTimes(DeviceStream stream, MemoryResource resource) {
    this.stream = stream;
    this.resource = resource;
  }

  /**
   * Sets the time of a row; the times of all rows before it must be set.
   *
   * @param time milliseconds since 1970-01-01T00:00Z, or {@link EventTimeColumn#NONE}
   */
  public void set(int row, long time) {
    if (!anyKnown && time == EventTimeColumn.NONE) {
      return;
    }
    reserve(row + 1);
    if (!anyKnown) {
      Arrays.fill(times, 0, row, EventTimeColumn.NONE);
      anyKnown = true;
    }
    times[row] = time;
  }

  private void reserve(int rows) {
    if (rows > times.length) {
      times = Arrays.copyOf(times, Math.max(INITIAL_ROWS, rows + (rows >> 1)));
    }
  }

  /**
   * Makes one attempt: the times as an {@link EventTimeColumn}, which the caller owns; empty if no
   * row has one.
   *
   * @param rows how many were set
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no memory for it; nothing has
   *     changed then
   */
  public Optional<Column> column(int rows) {
    if (!anyKnown) {
      return Optional.empty();
    }
    try (Buffer buffer = Buffer.allocate((long) rows * Long.BYTES, stream, resource)) {
      try (AccessScope scope = AccessScope.on(stream)) {
        HostMemory.copyFromArray(buffer.access(AccessMode.WRITE, scope), times, rows);
      }
      return Optional.of(new Column(DataType.INT64, rows, 0, buffer.share(), null, List.of()));
    }
  }

  /** Forgets all times. */
  public void clear() {
    anyKnown = false;
  }
}
