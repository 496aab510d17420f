// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import io.millrace.device.Device;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.StagingRequests;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.operators.context.ContextMemory;

/** Lets requests of operators for device and pinned memory fail. Thread-safe. */
final class MemoryFaults implements AutoCloseable {
  private boolean isArmed;
  private int passing;
  private int failing;
  private int failed;

  /**
   * Begins to see all requests.
   *
   * @throws IllegalStateException if a context is open
   */
  MemoryFaults() {
    ContextMemory.wrap(memory -> new FailingResourceAdaptor(memory, (number, bytes) -> fails()));
    StagingRequests.listen(Device.current().stagingPool(), this::request);
  }

  private void request(long bytes) {
    if (fails()) {
      throw new GpuOutOfMemoryException("injected failure of a request for " + bytes + " bytes");
    }
  }

  private synchronized boolean fails() {
    if (!isArmed || failing == 0) {
      return false;
    }
    if (passing > 0) {
      passing--;
      return false;
    }
    failing--;
    failed++;
    return true;
  }

  /** Lets {@code failures} requests fail, after {@code requests} that succeed. */
  synchronized void failAfter(int requests, int failures) {
    passing = requests;
    failing = failures;
  }

  /** Lets all further requests succeed. */
  synchronized void clear() {
    failing = 0;
  }

  /** How many requests failed so far. */
  synchronized int failed() {
    return failed;
  }

  /** Whether requests may fail: not those of the simulator itself. */
  synchronized void arm(boolean newIsArmed) {
    isArmed = newIsArmed;
  }

  @Override
  public void close() {
    clear();
    StagingRequests.ignore(Device.current().stagingPool());
    ContextMemory.unwrap();
  }
}
