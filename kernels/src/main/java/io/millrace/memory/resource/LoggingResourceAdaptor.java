// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.LongSupplier;

/**
 * Writes each allocation and free as one line of comma-separated values, in an order in which they
 * can be repeated: an address is logged as free before it is logged as allocated again.
 *
 * <pre>{@code
 * thread,time_nanos,action,address,bytes,stream
 * 1,1500,allocate,0x7f5a3c000000,4096,0
 * 1,2500,allocate failure,0x0,1099511627776,0
 * 1,3500,free,0x7f5a3c000000,4096,0
 * }</pre>
 *
 * The thread is its id, the stream a number in order of appearance. A log that cannot be written
 * ends, and memory is allocated and freed on: {@link #close} throws what went wrong.
 */
@PublicEvolving
public final class LoggingResourceAdaptor implements MemoryResource, AutoCloseable {
  /** The first line of a log: the names of its values. */
  public static final String HEADER = "thread,time_nanos,action,address,bytes,stream";

  private final MemoryResource upstream;
  private final Writer log;
  private final LongSupplier clockNanos;
  private final Map<DeviceStream, Integer> streams = new WeakHashMap<>();
  private final StringBuilder line = new StringBuilder();
  private IOException failure;
  private int streamCount;
  private boolean closed;

  /**
   * Writes the header.
   *
   * @param log belongs to the adaptor from now on
   * @param clockNanos the time of an entry, in nanoseconds from any origin
   */
  public LoggingResourceAdaptor(MemoryResource upstream, Writer log, LongSupplier clockNanos) {
    this.upstream = upstream;
    this.log = log;
    this.clockNanos = clockNanos;
    line.append(HEADER);
    writeLine();
  }

  /**
   * Logs to a file, which is made or replaced.
   *
   * @throws IOException if the file cannot be opened
   */
  public LoggingResourceAdaptor(MemoryResource upstream, Path log, LongSupplier clockNanos)
      throws IOException {
    this(upstream, Files.newBufferedWriter(log), clockNanos);
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  @Override
  public long allocate(long bytes, DeviceStream stream) {
    long address;
    try {
      address = upstream.allocate(bytes, stream);
    } catch (RuntimeException | Error e) {
      log("allocate failure", 0, bytes, stream);
      throw e;
    }
    log("allocate", address, bytes, stream);
    return address;
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    log("free", address, bytes, stream);
    upstream.free(address, bytes, stream);
  }

  private synchronized void log(String action, long address, long bytes, DeviceStream stream) {
    if (closed || failure != null) {
      return;
    }
    line.append(Thread.currentThread().getId()).append(',');
    line.append(clockNanos.getAsLong()).append(',');
    line.append(action).append(",0x");
    line.append(Long.toHexString(address)).append(',');
    line.append(bytes).append(',');
    line.append(streams.computeIfAbsent(stream, key -> streamCount++));
    writeLine();
  }

  private void writeLine() {
    try {
      log.append(line.append('\n'));
    } catch (IOException e) {
      failure = e;
    }
    line.setLength(0);
  }

  /**
   * Ends the log and closes it; later allocations and frees are not logged. Closing twice does
   * nothing.
   *
   * @throws IOException if the log could not be written as a whole
   */
  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    try (Writer closedLog = log) {
      if (failure != null) {
        throw failure;
      }
      closedLog.flush();
    }
  }
}
