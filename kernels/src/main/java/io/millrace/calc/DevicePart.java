// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import java.util.BitSet;

/** What a device does of a calc: all rows but those that it leaves to the host. */
@FunctionalInterface
interface DevicePart {

  /**
   * The rows of {@code input} that are kept.
   *
   * @param numbersRows whether the last column is the number of each row in the input
   * @param schema of the result
   */
  Result run(
      boolean numbersRows, Table input, Schema schema, DeviceStream stream, MemoryResource memory);

  /**
   * A device's result. It owns its table.
   *
   * @param table of the rows for the host any or none are there, with undefined values
   * @param rowsForHost the numbers of the input's rows that fail, or that the device cannot do
   *     exactly
   */
  record Result(Table table, BitSet rowsForHost) implements AutoCloseable {
    @Override
    public void close() {
      table.close();
    }
  }
}
