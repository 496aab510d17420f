// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.memory.AccessScope;

/** The source of the partition number of each row. */
interface PartitionIds {

  /** Computes partition numbers of tables in host memory. */
  @FunctionalInterface
  interface HostNumbers {
    /**
     * Writes the partitions of {@code count} rows from {@code first} on.
     *
     * @param count at most the requested capacity
     */
    void number(int first, int count, int[] partitionOf);
  }

  /**
   * The numbers for a table in host memory; valid within the scope.
   *
   * @param capacity the largest number of rows per call
   */
  HostNumbers onHost(AccessScope scope, int partitions, int capacity);

  /** Writes the arguments of the kernels. */
  void describe(PartitionArguments arguments, AccessScope scope);

  /** The suffix of the names of the kernels for these ids. */
  String kernelSuffix();
}
