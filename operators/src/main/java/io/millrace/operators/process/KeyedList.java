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
import io.millrace.state.row.UpdateTime;
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
  private final int firstPosition;

  /**
   * @param firstPosition of the elements of a list that begins; 0 unless elements expire
   */
  KeyedList(
      ListStateSchema schema,
      KeyedMap elements,
      KeyedMap lengths,
      DeviceContext context,
      HostTransfer transfer,
      int firstPosition) {
    this.schema = schema;
    this.elements = elements;
    this.lengths = lengths;
    this.context = context;
    this.transfer = transfer;
    this.firstPosition = firstPosition;
  }

  /**
   * The elements of lists.
   *
   * @param requests of {@link ListStateSchema#requests}; stays the caller's
   * @param keys the key columns of the batch's keys; stays the caller's
   * @param time null if elements do not expire
   * @return rows of {@link ListStateSchema#read}: the elements of each list that is asked for, one
   *     list after the other. The caller closes the table
   * @throws IllegalStateException if {@code requests} has other columns, or a number that is not
   *     that of a key
   */
  Table read(Table requests, Table keys, UpdateTime time) {
    KeyedEntries.checkSchema(schema.name(), schema.requests(), requests.schema());
    try (Table host = transfer.toHost(requests);
        RowTableBuilder builder = transfer.tableBuilder(elements.schema().requests());
        AccessScope scope = AccessScope.on(context.hostStream())) {
      ColumnReader numbers = new ColumnReader(host.column(0), scope);
      int[] requested = KeyedEntries.keyNumbers(schema.name(), numbers, keys.rowCount());
      Places places = places(requests, keys, time);
      for (int row = 0; row < requested.length; row++) {
        for (int index = places.first[row]; index != places.end[row]; index++) {
          append(builder, requested[row], index);
        }
      }
      try (Table entries = upload(builder);
          Table found = elements.find(entries, keys, time);
          Table read = read(entries, found)) {
        return present(found, read);
      }
    }
  }

  private static void append(RowTableBuilder requests, int key, int index) {
    ((FixedWidthColumnBuilder) requests.column(0)).appendInt(key);
    ((FixedWidthColumnBuilder) requests.column(1)).appendInt(index);
  }

  private Table upload(RowTableBuilder builder) {
    return transfer.upload(builder.finish(builder.column(0).size()));
  }

  private Table read(Table entries, Table found) {
    List<Column> columns = new ArrayList<>();
    columns.add(entries.column(0).share());
    found
        .columns()
        .subList(0, schema.elements().size())
        .forEach(column -> columns.add(column.share()));
    return new Table(schema.read(), columns, found.rowCount());
  }

  // Elements that have expired may have been removed.
  private Table present(Table found, Table read) {
    boolean[] isPresent = isPresent(found);
    int[] rows = IntStream.range(0, isPresent.length).filter(row -> isPresent[row]).toArray();
    if (rows.length == isPresent.length) {
      return read.share();
    }
    try (RowTableBuilder builder = transfer.tableBuilder(new Schema(List.of(ROW)))) {
      Arrays.stream(rows).forEach(((FixedWidthColumnBuilder) builder.column(0))::appendInt);
      try (Table numbers = upload(builder)) {
        return Gather.gather(read, numbers.column(0), context.stream(), context.resource());
      }
    }
  }

  private boolean[] isPresent(Table found) {
    try (Table column = found.select(List.of(MapStateSchema.IS_PRESENT));
        Table host = transfer.toHost(column);
        AccessScope scope = AccessScope.on(context.hostStream())) {
      ColumnReader reader = new ColumnReader(host.column(0), scope);
      boolean[] isPresent = new boolean[reader.size()];
      for (int row = 0; row < isPresent.length; row++) {
        isPresent[row] = !reader.isNull(row) && reader.getBoolean(row);
      }
      return isPresent;
    }
  }

  /**
   * The positions of the elements of lists: from the first one to that behind the last one, which
   * is equal if there are none. Where elements expire, positions may have passed the largest INT,
   * behind which the smallest comes.
   */
  private static final class Places {
    private final int[] first;
    private final int[] end;

    Places(int lists) {
      this(new int[lists], new int[lists]);
    }

    private Places(int[] first, int[] end) {
      this.first = first;
      this.end = end;
    }

    Places copy() {
      return new Places(first.clone(), end.clone());
    }

    int size(int list) {
      return end[list] - first[list];
    }

    boolean has(int list, int index) {
      return Integer.compareUnsigned(index - first[list], size(list)) < 0;
    }
  }

  // Of the list of each request.
  private Places places(Table requests, Table keys, UpdateTime time) {
    try (Table found = lengths.find(requests, keys, time);
        Table host = transfer.toHost(found);
        AccessScope scope = AccessScope.on(context.hostStream())) {
      Places places = new Places(host.rowCount());
      readPositions(host.column(0), scope, places.end);
      if (lengths.expires()) {
        readPositions(host.column(1), scope, places.first);
      }
      return places;
    }
  }

  private void readPositions(Column column, AccessScope scope, int[] positions) {
    ColumnReader reader = new ColumnReader(column, scope);
    Arrays.setAll(positions, row -> reader.isNull(row) ? firstPosition : reader.getInt(row));
  }

  /**
   * What the states are updated with, by their names.
   *
   * @param changes of {@link ListStateSchema#changes}; stays the caller's
   * @param keys the key columns of the batch's keys; stays the caller's
   * @param time null if elements do not expire
   * @param updates takes the tables, which the caller closes, also if this fails
   * @throws IllegalStateException if {@code changes} has other columns, or a number that is not
   *     that of a key
   */
  void addUpdates(Table changes, Table keys, UpdateTime time, Map<String, Table> updates) {
    KeyedEntries.checkSchema(schema.name(), schema.changes(), changes.schema());
    try (Table kinds = changes.select(List.of(ListStateSchema.KEY, ListStateSchema.IS_ADDED));
        Table host = transfer.toHost(kinds);
        AccessScope scope = AccessScope.on(context.hostStream())) {
      ColumnReader numbers = new ColumnReader(host.column(0), scope);
      int[] rowKeys = KeyedEntries.keyNumbers(schema.name(), numbers, keys.rowCount());
      Changes lists =
          new Changes(rowKeys, new ColumnReader(host.column(1), scope), keys.rowCount());
      Places before = placesBefore(lists, keys, time);
      Places after = before.copy();
      if (lengths.expires()) {
        leaveExpired(lists, after, keys, time);
      }
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
  private Places placesBefore(Changes lists, Table keys, UpdateTime time) {
    Places before = new Places(keys.rowCount());
    try (RowTableBuilder builder = transfer.tableBuilder(schema.requests())) {
      Arrays.stream(lists.keys).forEach(((FixedWidthColumnBuilder) builder.column(0))::appendInt);
      try (Table requests = upload(builder)) {
        Places found = places(requests, keys, time);
        for (int i = 0; i < lists.keys.length; i++) {
          before.first[lists.keys[i]] = found.first[i];
          before.end[lists.keys[i]] = found.end[i];
        }
      }
    }
    return before;
  }

  // Elements expire in their order. Those in front of an element that has expired are left, for
  // distances of powers of two: so more than half of all that have.
  private void leaveExpired(Changes lists, Places places, Table keys, UpdateTime time) {
    try (RowTableBuilder builder = transfer.tableBuilder(elements.schema().requests())) {
      List<Integer> probedKeys = new ArrayList<>();
      List<Integer> nexts = new ArrayList<>();
      for (int key : lists.keys) {
        int size = lists.isCleared(key) ? 0 : places.size(key);
        for (long distance = 1; distance <= size; distance *= 2) {
          int next = places.first[key] + (int) distance;
          append(builder, key, next - 1);
          probedKeys.add(key);
          nexts.add(next);
        }
      }
      if (probedKeys.isEmpty()) {
        return;
      }
      try (Table probes = upload(builder);
          Table found = elements.find(probes, keys, time)) {
        boolean[] isPresent = isPresent(found);
        for (int i = 0; i < isPresent.length; i++) {
          if (!isPresent[i]) {
            places.first[probedKeys.get(i)] = nexts.get(i);
          }
        }
      }
    }
  }

  // Elements that are added take the places behind the others; those of cleared lists are removed.
  private void addElements(
      Table changes,
      Changes lists,
      Places before,
      Places after,
      Table keys,
      Map<String, Table> updates) {
    try (RowTableBuilder builder = transfer.tableBuilder(places())) {
      for (int key : lists.keys) {
        if (lists.isCleared(key)) {
          after.first[key] = firstPosition;
          after.end[key] = firstPosition;
        }
      }
      for (int row = 0; row < lists.rowKeys.length; row++) {
        if (lists.stays(row)) {
          int key = lists.rowKeys[row];
          append(builder, row, key, after.end[key], true);
          Math.addExact(after.size(key), 1);
          after.end[key]++;
        }
      }
      for (int key : lists.keys) {
        if (lists.isCleared(key)) {
          for (int index = before.first[key]; index != before.end[key]; index++) {
            if (!after.has(key, index)) {
              append(builder, -1, key, index, false);
            }
          }
        }
      }
      if (builder.column(0).size() > 0) {
        try (Table places = upload(builder);
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

  // A list without elements has no length. Where elements expire, the length stays as long as they.
  private void addLengths(
      Changes lists, Places before, Places after, Table keys, Map<String, Table> updates) {
    boolean expires = lengths.expires();
    try (RowTableBuilder builder = transfer.tableBuilder(lengths.schema().changes())) {
      for (int key : lists.keys) {
        boolean hasElements = after.size(key) != 0;
        boolean isRenewed = expires && hasElements;
        if (isRenewed || after.size(key) != before.size(key)) {
          ((FixedWidthColumnBuilder) builder.column(0)).appendInt(key);
          ((FixedWidthColumnBuilder) builder.column(1)).appendInt(after.end[key]);
          if (expires) {
            ((FixedWidthColumnBuilder) builder.column(2)).appendInt(after.first[key]);
          }
          ((FixedWidthColumnBuilder) builder.column(expires ? 3 : 2)).appendBoolean(hasElements);
        }
      }
      if (builder.column(0).size() > 0) {
        try (Table changed = upload(builder)) {
          updates.put(lengths.schema().name(), lengths.updates(changed, keys));
        }
      }
    }
  }
}
