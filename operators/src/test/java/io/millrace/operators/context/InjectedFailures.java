// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.device.Device;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.memory.resource.FailingResourceAdaptor.FailureCondition;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/**
 * Fails allocations of device and of pinned memory, counted together, by contexts that are opened
 * until this is closed. No context may be open at either time.
 */
public final class InjectedFailures implements AutoCloseable {
  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();

  public InjectedFailures(FailureCondition condition) {
    FailureCondition counted =
        (number, bytes) -> {
          boolean fails = condition.fails(requests.incrementAndGet(), bytes);
          if (fails) {
            failures.incrementAndGet();
          }
          return fails;
        };
    UnaryOperator<MemoryResource> wrapper =
        upstream -> new FailingResourceAdaptor(upstream, counted);
    DeviceContext.wrapMemory(wrapper, wrapper);
  }

  /** Allocations that failed so far. */
  public long failures() {
    return failures.get();
  }

  /** Whether the calling thread holds a permit of the current device, which some context uses. */
  public static boolean holdsPermit() {
    return SharedDeviceMemory.semaphore(Device.current()).isHeldByCurrentThread();
  }

  @Override
  public void close() {
    DeviceContext.wrapMemory(UnaryOperator.identity(), UnaryOperator.identity());
  }
}
