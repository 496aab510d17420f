// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.memory.spill.MemoryBudget;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;

/**
 * The job and the task that use memory.
 *
 * @param id equal for all operators of the job
 * @param name for logs and messages
 * @param spillDirectories the directories of the disk tier, which Flink deletes; empty for no disk
 *     tier
 * @param memoryManager the slot's managed memory, which accounts for host memory of spilled
 *     buffers; empty if this memory needs no account
 * @param hostBudget the host memory of spilled buffers if there is no memory manager
 */
record JobEnvironment(
    Object id,
    String name,
    LayeredOptions options,
    List<Path> spillDirectories,
    Optional<MemoryManager> memoryManager,
    MemoryBudget hostBudget) {

  JobEnvironment(
      Object id,
      String name,
      LayeredOptions options,
      List<Path> spillDirectories,
      Optional<MemoryManager> memoryManager) {
    this(id, name, options, spillDirectories, memoryManager, MemoryBudget.unlimited());
  }

  /** The job that {@code operator} is part of. */
  static JobEnvironment of(AbstractStreamOperator<?> operator) {
    Environment task = operator.getContainingTask().getEnvironment();
    return new JobEnvironment(
        task.getJobID(),
        "job '" + task.getJobInfo().getJobName() + "' (" + task.getJobID() + ")",
        LayeredOptions.of(operator),
        Stream.of(task.getIOManager().getSpillingDirectoriesPaths()).map(Path::of).toList(),
        Optional.of(task.getMemoryManager()));
  }

  /** The same job without host memory for spilled buffers. */
  JobEnvironment withoutHostMemory() {
    return new JobEnvironment(
        id, name, options, spillDirectories, Optional.empty(), MemoryBudget.none());
  }

  /** A new job for work outside Flink. It has no disk tier. */
  static JobEnvironment ofProcess() {
    return ofProcess(LayeredOptions.ofProcess());
  }

  /** As {@link #ofProcess()}, with these options. */
  static JobEnvironment ofProcess(LayeredOptions options) {
    return new JobEnvironment(
        new Object(), "work outside any job", options, List.of(), Optional.empty());
  }
}
