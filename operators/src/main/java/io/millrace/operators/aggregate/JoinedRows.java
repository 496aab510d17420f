// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.kernel.concatenate.Concatenate;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.retry.Splittable;
import java.util.List;

/** Tables whose rows become one table, or several if they do not fit the device together. */
record JoinedRows(List<Table> tables) implements Splittable<JoinedRows> {

  /** The rows of all tables in their order; the caller closes the table. */
  Table table(Schema schema, DeviceStream stream, MemoryResource memory) {
    return tables.size() == 1
        ? tables.get(0).share()
        : Concatenate.concatenate(schema, tables, stream, memory);
  }

  @Override
  public List<JoinedRows> halves() {
    int half = tables.size() / 2;
    if (half == 0) {
      return tables.get(0).halves().stream().map(List::of).map(JoinedRows::new).toList();
    }
    return List.of(shared(0, half), shared(half, tables.size()));
  }

  private JoinedRows shared(int first, int end) {
    return new JoinedRows(tables.subList(first, end).stream().map(Table::share).toList());
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    tables.forEach(table -> failure.run(table::close));
    failure.rethrow();
  }
}
