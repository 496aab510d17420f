// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.StagingBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads by the host of memory that a stream's device works on. All reads are copied with a single
 * wait; without reads nothing waits. Used by one thread.
 */
final class DeviceReads implements AutoCloseable {
  private final DeviceStream stream;
  private final List<Read> reads = new ArrayList<>();
  private StagingBuffer staging;
  private long bytes;

  private record Read(long source, long position, long length) {}

  DeviceReads(DeviceStream stream) {
    this.stream = stream;
  }

  /**
   * Adds memory to read.
   *
   * @return the position to pass to {@link #address}
   */
  long add(long source, long length) {
    long position = bytes;
    reads.add(new Read(source, position, length));
    bytes += (length + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
    return position;
  }

  /**
   * Copies the added memory, ordered after the work of the stream, and waits for the copies. Called
   * once.
   */
  void await() {
    if (bytes == 0) {
      return;
    }
    staging = stream.device().stagingPool().acquire(bytes);
    for (Read read : reads) {
      stream.copy(staging.address() + read.position, read.source, read.length);
    }
    try (DeviceEvent copied = stream.recordEvent()) {
      copied.synchronize();
    }
  }

  /**
   * The host address of the memory that {@link #add} returned {@code position} for, valid until
   * this is closed.
   */
  long address(long position) {
    return staging.address() + position;
  }

  @Override
  public void close() {
    if (staging != null) {
      staging.close();
    }
  }
}
