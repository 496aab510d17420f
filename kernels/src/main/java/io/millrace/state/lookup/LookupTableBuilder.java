// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.lookup;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.kernel.concatenate.Concatenate;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.StateSnapshot;
import io.millrace.state.StateTable;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Makes a {@link LookupTable} of rows that come in parts. Used by one thread. */
@PublicEvolving
public final class LookupTableBuilder implements AutoCloseable {
  private static final byte ALL_VALID = (byte) 0xff;

  private final List<String> keyNames;
  private final Schema values;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final StateTable keys;
  private final List<Table> parts = new ArrayList<>();
  private long rowCount;

  /**
   * @param schema of the rows: of any types but ARRAY, ROW and DICTIONARY
   * @param keyNames the key columns, in the order in which keys are looked up, at least one
   * @param stream orders the memory of the builder and of the table, and stays open as long
   * @param memory of the builder and of the table
   * @throws IllegalArgumentException if there is no key column, there is none with a name, a column
   *     has another type, or the keys have more than 24 words of 8 bytes
   */
  public LookupTableBuilder(
      Schema schema, List<String> keyNames, DeviceStream stream, MemoryResource memory) {
    this.keyNames = List.copyOf(keyNames);
    this.values =
        nullable(
            schema.select(schema.names().stream().filter(n -> !keyNames.contains(n)).toList()));
    this.stream = stream;
    this.memory = memory;
    List<Integer> positions = IntStream.range(0, keyNames.size()).boxed().toList();
    Schema keySchema = nullable(schema.select(keyNames));
    for (Field field : schema.fields()) {
      if (!field.type().id().isScalar()) {
        throw new IllegalArgumentException(
            "expected a type other than ARRAY, ROW and DICTIONARY for column '"
                + field.name()
                + "', got "
                + field.type());
      }
    }
    this.keys =
        new StateTable(
            new StateSchema(keySchema, positions, List.of(), StateSchema.NO_KINDS), stream, memory);
  }

  // What is looked up may be null, and so is a value without a row.
  private static Schema nullable(Schema schema) {
    return new Schema(schema.fields().stream().map(f -> Field.of(f.name(), f.type())).toList());
  }

  /**
   * Adds rows: makes one attempt. Waits for the work.
   *
   * @param part of the builder's schema; its keys have no nulls. Stays the caller's
   * @throws IllegalArgumentException if a key is there twice, in this part or with one before, or
   *     has a null; the builder can only be closed then
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public void add(Table part) {
    try (Table key = part.select(keyNames)) {
      for (int i = 0; i < keyNames.size(); i++) {
        if (key.column(i).nullCount(stream) > 0) {
          throw new IllegalArgumentException(
              "expected keys without nulls, got one in column '" + keyNames.get(i) + "'");
        }
      }
      keys.accumulate(key);
    }
    parts.add(part.select(values.names()));
    rowCount += part.rowCount();
    if (keys.rowCount() < rowCount) {
      throw new IllegalArgumentException(
          "expected a row for each key "
              + keyNames
              + ", got "
              + rowCount
              + " rows with "
              + keys.rowCount()
              + " different keys");
    }
  }

  /**
   * The table of all rows, which the caller closes: makes one attempt. Waits if there are strings.
   * The builder is closed by the caller too.
   *
   * @throws GpuOutOfMemoryException if there is too little memory, or there are 2 Gi rows or more,
   *     or as many bytes of one column's strings
   */
  public LookupTable build() {
    Table joined = nullable(Concatenate.concatenate(values, parts, stream, memory));
    FirstFailure failure = new FirstFailure();
    List<Runnable> made = new ArrayList<>(List.of(joined::close));
    try {
      StateSnapshot rows = keys.snapshot();
      made.add(rows::close);
      return new LookupTable(rows, rowCount == 0 ? null : keys.shareIndex(), joined);
    } catch (RuntimeException | Error e) {
      failure.add(e);
      made.forEach(failure::run);
      throw e;
    }
  }

  // A gather gives nulls only for columns that may have some.
  private Table nullable(Table table) {
    try (table) {
      return Table.of(values, table.rowCount(), i -> nullable(table.column(i)));
    }
  }

  private Column nullable(Column column) {
    if (column.isNullable()) {
      return column.share();
    }
    Buffer mask = Buffer.allocate(Column.maskBytes(column.size()), stream, memory);
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.fill(mask.access(AccessMode.WRITE, scope), ALL_VALID, mask.size());
    } catch (RuntimeException | Error e) {
      mask.close();
      throw e;
    }
    Optional<Buffer> data = column.data().map(Buffer::share);
    return new Column(
        column.type(),
        column.size(),
        column.offset(),
        data.orElse(null),
        mask,
        column.children().stream().map(Column::share).toList());
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    parts.forEach(part -> failure.run(part::close));
    parts.clear();
    failure.run(keys::close);
    failure.rethrow();
  }
}
