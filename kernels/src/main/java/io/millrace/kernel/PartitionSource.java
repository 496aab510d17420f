package io.millrace.kernel;

import io.millrace.memory.AccessScope;
import java.util.function.IntUnaryOperator;

/** Where the partition number of a row comes from. */
interface PartitionSource {

  /** From a row to its partition, for tables in host memory; valid within the scope. */
  IntUnaryOperator onHost(AccessScope scope, int partitions);

  /** Writes what the kernels need to know. */
  void describe(PartitionArguments arguments, AccessScope scope);

  /** The suffix of the names of the kernels for this source. */
  String kernelSuffix();
}
