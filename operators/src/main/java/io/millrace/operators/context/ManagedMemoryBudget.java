// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.memory.spill.MemoryBudget;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.memory.MemoryReservationException;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.tasks.StreamTask;

/**
 * The managed memory of a chain's operators, which accounts for the host memory that holds their
 * spilled buffers. There is one budget per chain and not one per operator, because a buffer may
 * outlive the operator that made it. The managed memory that an operator declared is reserved when
 * the operator opens, so that Flink does not give this memory to others. Thread-safe.
 */
final class ManagedMemoryBudget implements MemoryBudget, AutoCloseable {
  private final MemoryManager memoryManager;
  private final Runnable onNone;
  private long totalBytes;
  private long usedBytes;

  /**
   * @param memoryManager the managed memory of the chain's slot
   * @param onNone called for each request if the chain has no managed memory at all
   */
  ManagedMemoryBudget(MemoryManager memoryManager, Runnable onNone) {
    this.memoryManager = memoryManager;
    this.onNone = onNone;
  }

  /**
   * Adds the managed memory that {@code operator} declared, if it declared any.
   *
   * @throws IllegalStateException if this memory is not free
   */
  void add(AbstractStreamOperator<?> operator) {
    add(fraction(operator));
  }

  private static double fraction(AbstractStreamOperator<?> operator) {
    StreamTask<?, ?> task = operator.getContainingTask();
    return operator
        .getOperatorConfig()
        .getManagedMemoryFractionOperatorUseCaseOfSlot(
            ManagedMemoryUseCase.OPERATOR,
            task.getJobConfiguration(),
            task.getEnvironment().getTaskManagerInfo().getConfiguration(),
            operator.getUserCodeClassloader());
  }

  /** Adds this fraction of the slot's managed memory; 0 adds none. */
  synchronized void add(double fraction) {
    long bytes = fraction > 0 ? memoryManager.computeMemorySize(fraction) : 0;
    if (bytes == 0) {
      return;
    }
    try {
      memoryManager.reserveMemory(this, bytes);
    } catch (MemoryReservationException e) {
      throw new IllegalStateException(bytes + " bytes of managed memory are not free", e);
    }
    totalBytes += bytes;
  }

  @Override
  public boolean tryReserve(long bytes) {
    synchronized (this) {
      if (bytes <= totalBytes - usedBytes) {
        usedBytes += bytes;
        return true;
      }
      if (totalBytes > 0) {
        return false;
      }
    }
    onNone.run();
    return false;
  }

  @Override
  public synchronized void release(long bytes) {
    usedBytes -= bytes;
  }

  /** Releases all managed memory. Called after the chain's buffers are closed. */
  @Override
  public synchronized void close() {
    memoryManager.releaseMemory(this, totalBytes);
    totalBytes = 0;
  }
}
