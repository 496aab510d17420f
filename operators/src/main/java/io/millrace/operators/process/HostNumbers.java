// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.transfer.HostTransfer;
import java.util.List;

/** Moves numbers of rows between the device and the host. Each method makes one attempt. */
final class HostNumbers {
  private static final Schema NUMBERS = Schema.of(new Field("$number", DataType.INT32, false));

  private final HostTransfer transfer;

  /**
   * @param transfer stays the caller's
   */
  HostNumbers(HostTransfer transfer) {
    this.transfer = transfer;
  }

  /** A copy of a table, which the caller closes. */
  Table toHost(Table table) {
    return transfer.toHost(table);
  }

  /** A copy of an INT column without nulls, which the caller closes. */
  Table toHost(Column numbers) {
    try (Table table = Table.of(NUMBERS, numbers.size(), position -> numbers.share())) {
      return transfer.toHost(table);
    }
  }

  /** An INT column on the device, which the caller closes. */
  Column upload(List<Integer> numbers) {
    try (RowTableBuilder builder = transfer.tableBuilder(NUMBERS)) {
      FixedWidthColumnBuilder column = (FixedWidthColumnBuilder) builder.column(0);
      numbers.forEach(column::appendInt);
      try (Table table = transfer.upload(builder.finish(numbers.size()))) {
        return table.column(0).share();
      }
    }
  }
}
