package io.millrace.kernel;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.TypeId;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import java.util.function.IntUnaryOperator;

/** A column of partition numbers. */
record PartitionMap(Column column) implements PartitionSource {
  private static final int ALL_BITS = ~0;

  static boolean isInteger(TypeId type) {
    return switch (type) {
      case INT8, INT16, INT32, INT64 -> true;
      default -> false;
    };
  }

  // Numbers out of range go where the kernels send them, so that they stay in bounds.
  @Override
  public IntUnaryOperator onHost(AccessScope scope, int partitions) {
    ColumnReader reader = new ColumnReader(column, scope);
    IntUnaryOperator number =
        switch (column.type().id()) {
          case INT8 -> row -> reader.getByte(row) & 0xff;
          case INT16 -> row -> reader.getShort(row) & 0xffff;
          case INT32 -> reader::getInt;
          default -> row -> (int) reader.getLong(row);
        };
    return row -> {
      int given = number.applyAsInt(row);
      return Integer.compareUnsigned(given, partitions - 1) < 0 ? given : partitions - 1;
    };
  }

  @Override
  public void describe(PartitionArguments arguments, AccessScope scope) {
    int width = column.type().id().byteWidth();
    long address = column.data().orElseThrow().access(AccessMode.READ, scope);
    arguments.map(address + (long) column.offset() * width, width, 0, ALL_BITS);
  }

  @Override
  public String kernelSuffix() {
    return "map";
  }
}
