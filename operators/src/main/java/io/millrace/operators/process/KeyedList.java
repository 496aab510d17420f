// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A list in the state of a subtask: a map of the elements by their positions, and the lengths of
 * lists that have elements. Each method makes one attempt. Used by one thread.
 */
final class KeyedList {
  private static final Field ROW = new Field("$row", DataType.INT32, false);

  private final ListStateSchema schema;
  private final KeyedMap elements;
  private final KeyedMap lengths;
  private final DeviceContext context;
  private final HostTransfer transfer;

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
  }

  /**
   * The elements of lists.
   *
   * @param requests of {@link ListStateSchema#requests}; stays the caller's
   * @param keys the key columns of the batch's keys; stays the caller's
   * @return rows of {@link ListStateSchema#read}: the elements of each list that is asked for, one
   *     list after the other. The caller closes the table
   * @throws IllegalStateException if {@code requests} has other columns, or a number that is not
   *     that of a key
   */
  Table read(Table requests, Table keys) {
    KeyedEntries.checkSchema(schema.name(), schema.requests(), requests.schema());
    try (Table host = transfer.toHost(requests);
        RowTableBuilder builder = transfer.tableBuilder(elements.schema().requests());
        AccessScope scope = AccessScope.on(context.hostStream())) {
      ColumnReader numbers = new ColumnReader(host.column(0), scope);
      int[] requested = KeyedEntries.keyNumbers(schema.name(), numbers, keys.rowCount());
      int[] length = lengths(requests, keys);
      FixedWidthColumnBuilder key = (FixedWidthColumnBuilder) builder.column(0);
      FixedWidthColumnBuilder index = (FixedWidthColumnBuilder) builder.column(1);
      for (int row = 0; row < requested.length; row++) {
        for (int i = 0; i < length[row]; i++) {
          key.appendInt(requested[row]);
          index.appendInt(i);
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

  // Of the list of each request.
  private int[] lengths(Table requests, Table keys) {
    try (Table found = lengths.find(requests, keys, null);
        Table host = transfer.toHost(found);
        AccessScope scope = AccessScope.on(context.hostStream())) {
      ColumnReader length = new ColumnReader(host.column(0), scope);
      int[] all = new int[length.size()];
      Arrays.setAll(all, row -> length.isNull(row) ? 0 : length.getInt(row));
      return all;
    }
  }

  /**
   * What the states are updated with, by their names.
   *
   * @param changes of {@link ListStateSchema#changes}; stays the caller's
   * @param keys the key columns of the batch's keys; stays the caller's
   * @param updates takes the tables, which the caller closes, also if this fails
   * @throws IllegalStateException if {@code changes} has other columns, or a number that is not
   *     that of a key
   */
  void addUpdates(Table changes, Table keys, Map<String, Table> updates) {
    KeyedEntries.checkSchema(schema.name(), schema.changes(), changes.schema());
    try (Table kinds = changes.select(List.of(ListStateSchema.KEY, ListStateSchema.IS_ADDED));
        Table host = transfer.toHost(kinds);
        AccessScope scope = AccessScope.on(context.hostStream())) {
      ColumnReader numbers = new ColumnReader(host.column(0), scope);
      int[] rowKeys = KeyedEntries.keyNumbers(schema.name(), numbers, keys.rowCount());
      Changes lists =
          new Changes(rowKeys, new ColumnReader(host.column(1), scope), keys.rowCount());
      int[] before = lengthsBefore(lists, keys);
      int[] after = before.clone();
      addElements(changes, lists, before, after, keys, updates);
      addLengths(lists, before, after, keys, updates);
    }
  }

  /** The lists that change. */
  private static final class Changes {
    private final int[] rowKeys;
    private final ColumnReader isAdded;
    // By the number of the key: the first row whose element stays, or -1 if the list stays as it
    // is. Above 0 if the elements before the batch do not stay.
    private final int[] firstRow;
    private final int[] keys;

    Changes(int[] rowKeys, ColumnReader isAdded, int keyCount) {
      this.rowKeys = rowKeys;
      this.isAdded = isAdded;
      this.firstRow = new int[keyCount];
      Arrays.fill(firstRow, -1);
      for (int row = 0; row < rowKeys.length; row++) {
        int key = rowKeys[row];
        firstRow[key] = isAdded.getBoolean(row) ? Math.max(firstRow[key], 0) : row + 1;
      }
      this.keys = IntStream.range(0, keyCount).filter(key -> firstRow[key] >= 0).toArray();
    }

    boolean isCleared(int key) {
      return firstRow[key] > 0;
    }

    boolean stays(int row) {
      return isAdded.getBoolean(row) && row >= firstRow[rowKeys[row]];
    }
  }

  // By the number of the key.
  private int[] lengthsBefore(Changes lists, Table keys) {
    int[] before = new int[keys.rowCount()];
    try (RowTableBuilder builder = transfer.tableBuilder(schema.requests())) {
      Arrays.stream(lists.keys).forEach(((FixedWidthColumnBuilder) builder.column(0))::appendInt);
      try (Table requests = transfer.upload(builder.finish(lists.keys.length))) {
        int[] found = lengths(requests, keys);
        for (int i = 0; i < found.length; i++) {
          before[lists.keys[i]] = found[i];
        }
      }
    }
    return before;
  }

  // Elements that are added take the places behind the others; those behind the end are removed.
  private void addElements(
      Table changes,
      Changes lists,
      int[] before,
      int[] after,
      Table keys,
      Map<String, Table> updates) {
    try (RowTableBuilder builder = transfer.tableBuilder(places())) {
      Arrays.stream(lists.keys).filter(lists::isCleared).forEach(key -> after[key] = 0);
      for (int row = 0; row < lists.rowKeys.length; row++) {
        if (lists.stays(row)) {
          int key = lists.rowKeys[row];
          append(builder, row, key, after[key], true);
          after[key] = Math.addExact(after[key], 1);
        }
      }
      for (int key : lists.keys) {
        for (int index = after[key]; index < before[key]; index++) {
          append(builder, -1, key, index, false);
        }
      }
      int count = builder.column(0).size();
      if (count > 0) {
        try (Table places = transfer.upload(builder.finish(count));
            Table entries = entries(changes, places)) {
          updates.put(elements.schema().name(), elements.updates(entries, keys));
        }
      }
    }
  }

  // The row of the changes, or a number below 0; and the columns of entries but the elements.
  private Schema places() {
    Schema entries = elements.schema().changes();
    return new Schema(
        List.of(ROW, entries.field(0), entries.field(1), entries.field(entries.size() - 1)));
  }

  private static void append(RowTableBuilder places, int row, int key, int index, boolean isPut) {
    ((FixedWidthColumnBuilder) places.column(0)).appendInt(row);
    ((FixedWidthColumnBuilder) places.column(1)).appendInt(key);
    ((FixedWidthColumnBuilder) places.column(2)).appendInt(index);
    ((FixedWidthColumnBuilder) places.column(3)).appendBoolean(isPut);
  }

  private Table entries(Table changes, Table places) {
    try (Table values = changes.select(schema.elements().names());
        Table gathered =
            Gather.gather(values, places.column(0), context.stream(), context.resource())) {
      List<Column> columns = new ArrayList<>();
      columns.add(places.column(1).share());
      columns.add(places.column(2).share());
      gathered.columns().forEach(column -> columns.add(column.share()));
      columns.add(places.column(3).share());
      return new Table(elements.schema().changes(), columns, places.rowCount());
    }
  }

  // A list without elements has no length.
  private void addLengths(
      Changes lists, int[] before, int[] after, Table keys, Map<String, Table> updates) {
    try (RowTableBuilder builder = transfer.tableBuilder(lengths.schema().changes())) {
      for (int key : lists.keys) {
        if (after[key] != before[key]) {
          ((FixedWidthColumnBuilder) builder.column(0)).appendInt(key);
          ((FixedWidthColumnBuilder) builder.column(1)).appendInt(after[key]);
          ((FixedWidthColumnBuilder) builder.column(2)).appendBoolean(after[key] > 0);
        }
      }
      int count = builder.column(0).size();
      if (count > 0) {
        try (Table changed = transfer.upload(builder.finish(count))) {
          updates.put(lengths.schema().name(), lengths.updates(changed, keys));
        }
      }
    }
  }
}
