// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.TypeId;
import io.millrace.memory.AccessScope;

/** A column of partition numbers. */
record PartitionMap(Column column) implements PartitionIds {
  private static final int ALL_BITS = ~0;

  static boolean isInteger(TypeId type) {
    return switch (type) {
      case INT8, INT16, INT32, INT64 -> true;
      default -> false;
    };
  }

  // Numbers out of range become the last partition, as in the kernels, so that writes stay in
  // bounds.
  @Override
  public HostNumbers onHost(AccessScope scope, int partitions, int capacity) {
    ColumnReader reader = new ColumnReader(column, scope);
    return (first, count, partitionOf) -> {
      read(reader, first, count, partitionOf);
      for (int i = 0; i < count; i++) {
        boolean isInRange = Integer.compareUnsigned(partitionOf[i], partitions - 1) < 0;
        partitionOf[i] = isInRange ? partitionOf[i] : partitions - 1;
      }
    };
  }

  private static void read(ColumnReader reader, int first, int count, int[] numbers) {
    switch (reader.type().id()) {
      case INT8 -> {
        for (int i = 0; i < count; i++) {
          numbers[i] = reader.getByte(first + i) & 0xff;
        }
      }
      case INT16 -> {
        for (int i = 0; i < count; i++) {
          numbers[i] = reader.getShort(first + i) & 0xffff;
        }
      }
      case INT32 -> {
        for (int i = 0; i < count; i++) {
          numbers[i] = reader.getInt(first + i);
        }
      }
      default -> {
        for (int i = 0; i < count; i++) {
          numbers[i] = (int) reader.getLong(first + i);
        }
      }
    }
  }

  @Override
  public void describe(PartitionArguments arguments, AccessScope scope) {
    int width = column.type().id().byteWidth();
    arguments.map(column.dataAddress(scope), width, 0, ALL_BITS);
  }

  @Override
  public String kernelSuffix() {
    return "map";
  }
}
