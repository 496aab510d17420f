// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.memory.AccessScope;

/** Where the partition number of a row comes from. */
interface PartitionIds {

  /** From rows to their partitions, for tables in host memory. */
  @FunctionalInterface
  interface HostNumbers {
    /**
     * Writes the partitions of {@code count} rows from {@code first} on.
     *
     * @param count at most the capacity that was asked for
     */
    void number(int first, int count, int[] partitionOf);
  }

  /**
   * The numbers for a table in host memory; valid within the scope.
   *
   * @param capacity rows that are asked for at a time, at most
   */
  HostNumbers onHost(AccessScope scope, int partitions, int capacity);

  /** Writes what the kernels need to know. */
  void describe(PartitionArguments arguments, AccessScope scope);

  /** The suffix of the names of the kernels for this source. */
  String kernelSuffix();
}
