// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Table;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A list in the state of a subtask: a map of the elements by their positions, and the lengths.
 * Elements behind the end of a list stay in the map until others take their places. Each method
 * makes one attempt. Used by one thread.
 */
final class KeyedList {
  private final ListStateSchema schema;
  private final KeyedMap elements;
  private final KeyedMap lengths;
  private final DeviceContext context;
  private final HostTransfer transfer;
  private final HostNumbers numbers;

  KeyedList(
      ListStateSchema schema,
      KeyedMap elements,
      KeyedMap lengths,
      DeviceContext context,
      HostTransfer transfer) {
    this.schema = schema;
    this.elements = elements;
    this.lengths = lengths;
    this.context = context;
    this.transfer = transfer;
    this.numbers = new HostNumbers(transfer);
  }

  /**
   * The elements of lists.
   *
   * @param requests of {@link ListStateSchema#requests}; stays the caller's
   * @param keys the key columns of the batch's keys; stays the caller's
   * @return rows of {@link ListStateSchema#read}: the elements of each list that is asked for, one
   *     list after the other. The caller closes the table
   */
  Table read(Table requests, Table keys) {
    try (RowTableBuilder builder = transfer.tableBuilder(elements.schema().requests())) {
      FixedWidthColumnBuilder key = (FixedWidthColumnBuilder) builder.column(0);
      FixedWidthColumnBuilder index = (FixedWidthColumnBuilder) builder.column(1);
      try (Table host = transfer.toHost(requests);
          Table hostLengths = lengths(requests, keys);
          AccessScope scope = AccessScope.on(context.hostStream())) {
        ColumnReader requested = new ColumnReader(host.column(0), scope);
        ColumnReader length = new ColumnReader(hostLengths.column(0), scope);
        for (int row = 0; row < host.rowCount(); row++) {
          for (int i = 0; i < length(length, row); i++) {
            key.appendInt(requested.getInt(row));
            index.appendInt(i);
          }
        }
      }
      try (Table entries = transfer.upload(builder.finish(key.size()));
          Table found = elements.find(entries, keys, null)) {
        List<Column> columns = new ArrayList<>();
        columns.add(entries.column(0).share());
        found
            .columns()
            .subList(0, schema.elements().size())
            .forEach(column -> columns.add(column.share()));
        return new Table(schema.read(), columns, found.rowCount());
      }
    }
  }

  // In host memory: the caller closes the table.
  private Table lengths(Table requests, Table keys) {
    try (Table found = lengths.find(requests, keys, null)) {
      return transfer.toHost(found);
    }
  }

  private static int length(ColumnReader lengths, int row) {
    return lengths.isNull(row) ? 0 : lengths.getInt(row);
  }

  /** The positions of elements that are added, and the lengths of lists behind all changes. */
  private static final class Positions {
    private final List<Integer> rows = new ArrayList<>();
    private final List<Integer> indexes = new ArrayList<>();
    private final Map<Integer, Integer> lengths = new LinkedHashMap<>();

    void change(int row, int key, boolean isAdded, int lengthBefore) {
      int length = lengths.getOrDefault(key, lengthBefore);
      if (isAdded) {
        rows.add(row);
        indexes.add(length);
      }
      lengths.put(key, isAdded ? Math.addExact(length, 1) : 0);
    }
  }

  /**
   * What the states are updated with, by their names.
   *
   * @param changes of {@link ListStateSchema#changes}; stays the caller's
   * @param keys the key columns of the batch's keys; stays the caller's
   * @param updates takes the tables, which the caller closes, also if this fails
   */
  void addUpdates(Table changes, Table keys, Map<String, Table> updates) {
    elements.checkSchema(schema.changes(), changes.schema());
    Positions positions = positions(changes, keys);
    if (!positions.rows.isEmpty()) {
      try (Table added = added(changes, positions)) {
        updates.put(elements.schema().name(), elements.updates(added, keys));
      }
    }
    try (Table lengthChanges = lengthChanges(positions.lengths)) {
      updates.put(lengths.schema().name(), lengths.updates(lengthChanges, keys));
    }
  }

  private Positions positions(Table changes, Table keys) {
    try (Table requests = changes.select(schema.requests().names());
        Table hostLengths = lengths(requests, keys);
        Table kinds = changes.select(List.of(ListStateSchema.KEY, ListStateSchema.IS_ADDED));
        Table hostKinds = transfer.toHost(kinds);
        AccessScope scope = AccessScope.on(context.hostStream())) {
      ColumnReader length = new ColumnReader(hostLengths.column(0), scope);
      ColumnReader key = new ColumnReader(hostKinds.column(0), scope);
      ColumnReader isAdded = new ColumnReader(hostKinds.column(1), scope);
      Positions positions = new Positions();
      for (int row = 0; row < key.size(); row++) {
        positions.change(row, key.getInt(row), isAdded.getBoolean(row), length(length, row));
      }
      return positions;
    }
  }

  private Table added(Table changes, Positions positions) {
    try (Column map = numbers.upload(positions.rows);
        Column index = numbers.upload(positions.indexes);
        Table rows = Gather.gather(changes, map, context.stream(), context.resource())) {
      List<Column> columns = new ArrayList<>();
      rows.columns().forEach(column -> columns.add(column.share()));
      columns.add(1, index.share());
      return new Table(elements.schema().changes(), columns, rows.rowCount());
    }
  }

  private Table lengthChanges(Map<Integer, Integer> changed) {
    try (RowTableBuilder builder = transfer.tableBuilder(lengths.schema().changes())) {
      changed.forEach(
          (key, length) -> {
            ((FixedWidthColumnBuilder) builder.column(0)).appendInt(key);
            ((FixedWidthColumnBuilder) builder.column(1)).appendInt(length);
            ((FixedWidthColumnBuilder) builder.column(2)).appendBoolean(true);
          });
      return transfer.upload(builder.finish(changed.size()));
    }
  }
}
