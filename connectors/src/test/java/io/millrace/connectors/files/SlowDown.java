// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.functions.MapFunction;

/** Hands elements on, ten milliseconds each, and counts them. */
public final class SlowDown<T> implements MapFunction<T, T> {
  private static final long serialVersionUID = 1L;
  private static final long TIMEOUT_SECONDS = 300;
  private static final AtomicLong NEXT = new AtomicLong();
  private static final Map<Long, AtomicLong> COUNTS = new ConcurrentHashMap<>();

  private final long number = NEXT.getAndIncrement();

  public SlowDown() {
    COUNTS.put(number, new AtomicLong());
  }

  /** Waits until so many elements went through. */
  public void awaitElements(long count) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    while (COUNTS.get(number).get() < count) {
      if (System.nanoTime() > deadline) {
        throw new TimeoutException("no " + count + " elements: " + COUNTS.get(number));
      }
      Thread.sleep(10);
    }
  }

  @Override
  public T map(T value) throws Exception {
    Thread.sleep(10);
    COUNTS.get(number).incrementAndGet();
    return value;
  }
}
