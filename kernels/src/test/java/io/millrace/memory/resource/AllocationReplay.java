// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.AllocationTrace.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Repeats a trace on a resource, any number of times: a thread for each of the trace's threads, a
 * stream for each of its streams. Events at one address keep their order; threads are otherwise
 * free to run ahead of each other.
 */
final class AllocationReplay implements AutoCloseable {
  private static final int MAX_SPINS = 10_000;
  private static final long PARK_NANOS = 10_000;

  private final AllocationTrace trace;
  private final MemoryResource resource;
  private final List<DeviceStream> streams;
  private final ExecutorService threads;
  private final long[] addresses;
  // The last run in which each event was done. Publishes the addresses, too.
  private final AtomicIntegerArray done;
  private volatile boolean failed;
  private int run;

  AllocationReplay(AllocationTrace trace, MemoryResource resource) {
    this.trace = trace;
    this.resource = resource;
    this.streams =
        Stream.generate(resource.device()::createStream).limit(trace.streamCount()).toList();
    this.threads =
        Executors.newFixedThreadPool(
            Math.max(1, trace.eventsByThread().size()), AllocationReplay::daemon);
    this.addresses = new long[trace.allocations().size()];
    this.done = new AtomicIntegerArray(trace.eventCount());
  }

  // A benchmark that fails is never closed.
  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Repeats the trace once, and frees what the trace leaves.
   *
   * @throws ExecutionException around what an allocation or free threw
   */
  void run() throws ExecutionException, InterruptedException {
    run++;
    failed = false;
    List<Callable<Void>> tasks = new ArrayList<>();
    for (List<Event> events : trace.eventsByThread()) {
      tasks.add(() -> play(events));
    }
    try {
      for (Future<Void> played : threads.invokeAll(tasks)) {
        played.get();
      }
    } finally {
      trace.allocations().forEach(this::freeIfHeld);
    }
  }

  private Void play(List<Event> events) {
    try {
      for (Event event : events) {
        if (event.after() >= 0 && !waitFor(event.after())) {
          return null;
        }
        if (event.allocates()) {
          addresses[event.allocation()] = resource.allocate(event.bytes(), stream(event));
        } else {
          freeIfHeld(event);
        }
        done.setRelease(event.position(), run);
      }
      return null;
    } catch (RuntimeException | Error e) {
      failed = true;
      throw e;
    }
  }

  // Spinning is fastest where each thread has a processor; elsewhere it keeps the other from it.
  private boolean waitFor(int position) {
    for (int spins = 0; done.getAcquire(position) != run; spins++) {
      if (failed) {
        return false;
      }
      if (spins < MAX_SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PARK_NANOS);
      }
    }
    return true;
  }

  private void freeIfHeld(Event event) {
    long address = addresses[event.allocation()];
    if (address != 0) {
      addresses[event.allocation()] = 0;
      resource.free(address, event.bytes(), stream(event));
    }
  }

  private DeviceStream stream(Event event) {
    return streams.get(event.stream());
  }

  @Override
  public void close() {
    threads.shutdown();
    streams.forEach(DeviceStream::close);
  }
}
