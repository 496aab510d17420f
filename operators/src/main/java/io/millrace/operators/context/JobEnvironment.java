// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

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
 * @param spillDirectories of the disk tier, which Flink deletes; empty for none
 * @param memoryManager of the task's slot; empty if host memory need not be paid for
 */
record JobEnvironment(
    Object id,
    String name,
    LayeredOptions options,
    List<Path> spillDirectories,
    Optional<MemoryManager> memoryManager) {

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

  /** A job of its own, for work outside Flink, which has no disk tier. */
  static JobEnvironment ofProcess() {
    return new JobEnvironment(
        new Object(),
        "work outside any job",
        LayeredOptions.ofProcess(),
        List.of(),
        Optional.empty());
  }
}
