// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import ai.rapids.cudf.DType;
import ai.rapids.cudf.HostColumnVector;
import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.operators.context.DeviceContext;
import java.io.IOException;

/** Compares each value that libcudf read from a file with ours. */
final class ReadTableComparison {
  private ReadTableComparison() {}

  /**
   * @throws IllegalStateException naming the column if the tables differ
   */
  static void assertSame(BidFile file, int rows, ai.rapids.cudf.Table theirs) throws IOException {
    HostColumnVector[] columns = new HostColumnVector[theirs.getNumberOfColumns()];
    try (DeviceContext context = DeviceContext.open(Device.current())) {
      check(columns.length == BidFile.SCHEMA.size(), "number of columns");
      check(theirs.getRowCount() == rows, "number of rows");
      for (int i = 0; i < columns.length; i++) {
        columns[i] = theirs.getColumn(i).copyToHost();
        check(columns[i].getNullCount() == 0, "nulls of " + name(i));
        check(columns[i].getType().equals(type(i)), "type of " + name(i));
      }
      int compared = 0;
      for (int i = 0; i < file.rowGroups(); i++) {
        compared += compare(file, i, context, columns, compared);
      }
      check(compared == rows, "number of rows");
    } finally {
      for (HostColumnVector column : columns) {
        if (column != null) {
          column.close();
        }
      }
    }
  }

  private static int compare(
      BidFile file, int rowGroup, DeviceContext context, HostColumnVector[] theirs, int first)
      throws IOException {
    try (DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        Table table = file.read(rowGroup, context);
        Table host = table.copyTo(HostMemoryResource.INSTANCE, hostStream, context.stream());
        AccessScope scope = AccessScope.on(hostStream)) {
      for (int i = 0; i < theirs.length; i++) {
        Column ours = host.column(i);
        boolean same =
            type(i).equals(DType.STRING)
                ? sameTexts(ours, theirs[i], first, scope)
                : same(
                    address(ours, scope),
                    theirs[i],
                    (long) first * Long.BYTES,
                    ours.size() * Long.BYTES);
        check(same, "values of " + name(i));
      }
      return host.rowCount();
    }
  }

  private static boolean sameTexts(
      Column ours, HostColumnVector theirs, int first, AccessScope scope) {
    long ourOffsets = address(ours.child(0), scope);
    long theirOffsets = theirs.getOffsets().getAddress() + (long) first * Integer.BYTES;
    int ourStart = HostMemory.getInt(ourOffsets);
    int theirStart = HostMemory.getInt(theirOffsets);
    for (long i = 1; i <= ours.size(); i++) {
      int end = HostMemory.getInt(ourOffsets + i * Integer.BYTES);
      if (end - ourStart != HostMemory.getInt(theirOffsets + i * Integer.BYTES) - theirStart) {
        return false;
      }
    }
    int ourEnd = HostMemory.getInt(ourOffsets + (long) ours.size() * Integer.BYTES);
    return same(address(ours, scope) + ourStart, theirs, theirStart, ourEnd - ourStart);
  }

  private static boolean same(long ours, HostColumnVector theirs, long start, int bytes) {
    return HostMemory.byteBuffer(ours, bytes)
            .mismatch(HostMemory.byteBuffer(theirs.getData().getAddress() + start, bytes))
        < 0;
  }

  private static long address(Column column, AccessScope scope) {
    return column.data().orElseThrow().access(AccessMode.READ, scope);
  }

  private static DType type(int column) {
    TypeId id = BidFile.SCHEMA.type(column).id();
    return switch (id) {
      case INT64 -> DType.INT64;
      case STRING -> DType.STRING;
      case TIMESTAMP_MILLIS -> DType.TIMESTAMP_MILLISECONDS;
      default ->
          throw new IllegalStateException("there is no " + id + " among the columns of bids");
    };
  }

  private static String name(int column) {
    return "column '" + BidFile.SCHEMA.field(column).name() + "'";
  }

  private static void check(boolean same, String what) {
    if (!same) {
      throw new IllegalStateException("libcudf's table has another " + what + " than ours");
    }
  }
}
