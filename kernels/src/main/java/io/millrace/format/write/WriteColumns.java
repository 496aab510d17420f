// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import java.util.List;

/** The addresses of columns, numbered as in a {@link WritePlan}. */
final class WriteColumns {
  /** The structure {@code WriteColumn} of write_arguments.cuh. */
  static final class Layout {
    static final KernelStructure LAYOUT = new KernelStructure("WriteColumn");
    static final KernelStructure.Int64 VALUES = LAYOUT.int64("values");
    static final KernelStructure.Int64 SECOND = LAYOUT.int64("second");
    static final KernelStructure.Int64 VALIDITY = LAYOUT.int64("validity");

    private Layout() {}
  }

  private final AccessScope scope;
  private long next;

  private WriteColumns(AccessScope scope, long address) {
    this.scope = scope;
    this.next = address;
  }

  /**
   * Writes the addresses of a table's columns, which are valid as long as {@code scope} is open, to
   * host memory.
   */
  static void write(Table table, AccessScope scope, long address) {
    WriteColumns columns = new WriteColumns(scope, address);
    table.columns().forEach(column -> columns.add(column, 0));
  }

  // The rows of a column that begin at a row of it.
  private void add(Column column, int row) {
    int first = column.offset() + row;
    List<Column> children = column.children();
    TypeId id = column.type().id();
    long values =
        switch (id) {
          case TIMESTAMP_NANOS -> values(children.get(0), first, Long.BYTES);
          case STRING, BINARY -> address(column.data().orElse(null));
          case LIST, STRUCT -> 0;
          default -> values(column, row, width(id));
        };
    long second =
        switch (id) {
          case TIMESTAMP_NANOS -> values(children.get(1), first, Integer.BYTES);
          case STRING, BINARY, LIST -> values(children.get(0), first, Integer.BYTES);
          default -> 0;
        };
    long mask = address(column.validity().orElse(null));
    put(Layout.VALUES, values);
    put(Layout.SECOND, second);
    put(Layout.VALIDITY, mask == 0 ? 0 : mask * Byte.SIZE + first);
    next += Layout.LAYOUT.bytes();
    switch (id) {
      case STRUCT -> children.forEach(child -> add(child, first));
      case LIST -> add(children.get(1), 0);
      case DICTIONARY -> add(children.get(0), 0);
      default -> {}
    }
  }

  private static int width(TypeId id) {
    return id == TypeId.DICTIONARY ? Integer.BYTES : id.byteWidth();
  }

  private long values(Column column, int row, int width) {
    long start = address(column.data().orElse(null));
    return start == 0 ? 0 : start + (column.offset() + (long) row) * width;
  }

  private long address(Buffer buffer) {
    return buffer == null || buffer.size() == 0 ? 0 : buffer.access(AccessMode.READ, scope);
  }

  private void put(KernelStructure.Int64 field, long value) {
    HostMemory.putLong(next + field.offset(), value);
  }
}
