// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import java.util.BitSet;

/** Evaluates the part of a calc that runs on a device: all rows except rows that need the host. */
@FunctionalInterface
interface DevicePart {

  /**
   * Evaluates the selected rows of {@code input}.
   *
   * @param numbersRows whether the last output column is the input position of each row
   * @param schema schema of the result
   */
  Result run(
      boolean numbersRows, Table input, Schema schema, DeviceStream stream, MemoryResource memory);

  /**
   * The result of a device, which owns its table.
   *
   * @param table may contain the rows for the host, with undefined values
   * @param rowsForHost input positions of rows that fail or that the device cannot compute exactly
   */
  record Result(Table table, BitSet rowsForHost) implements AutoCloseable {
    @Override
    public void close() {
      table.close();
    }
  }
}
