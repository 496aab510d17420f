// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.ColumnReader;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.ExternalRowAppender;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.types.Row;

/**
 * A map of a {@link HostKeyedBatch}, entry by entry: what a batch puts and removes is seen by later
 * reads, and takes effect with the result of the function. Keys and values are rows with the Java
 * types of Flink's Table API, as {@link ExternalRowDecoder} makes them, and are copied. They have
 * what their columns keep, from the first read on: the digits of a timestamp and the scale of a
 * decimal; the kind of a row counts for nothing.
 *
 * <p>An entry is looked up in the state when it is first read, together with all entries that were
 * {@linkplain #request requested} before: a look-up costs launches and a copy, however many entries
 * it has. So request the entries of the whole batch first, and then read them. All entries of a key
 * cost a pass over the whole map, so {@linkplain #requestEntries request} the keys first too.
 */
@PublicEvolving
public final class HostMapState {
  private final MapStateSchema schema;
  private final ExternalRows keyRows;
  private final ExternalRows valueRows;
  private final EntryReader reader;
  private final HostTransfer transfer;
  private final DeviceContext context;
  private final int keyCount;
  // By the number of the key: what is known of its entries. Null if there is no entry.
  private final Map<Integer, Map<Row, Row>> known = new HashMap<>();
  private final Map<Integer, Map<Row, Row>> changes = new LinkedHashMap<>();
  // Keys of which all entries are known.
  private final Set<Integer> whole = new HashSet<>();
  // Those whose entries before the batch do not stay, and are not known.
  private final Set<Integer> cleared = new LinkedHashSet<>();
  private List<Entry> requested = new ArrayList<>();
  private final Set<Integer> requestedKeys = new LinkedHashSet<>();

  private record Entry(int key, Row mapKey) {}

  HostMapState(
      MapStateSchema schema,
      ExternalRows keyRows,
      ExternalRows valueRows,
      KeyedBatch batch,
      HostTransfer transfer) {
    this.schema = schema;
    this.keyRows = keyRows;
    this.valueRows = valueRows;
    this.reader = batch.entries();
    this.transfer = transfer;
    this.context = batch.device();
    this.keyCount = batch.keys().rowCount();
  }

  /**
   * Says that an entry will be read: the next read that needs the state looks it up too.
   *
   * @param key the number of its key in the batch
   * @throws IndexOutOfBoundsException if the batch has no such key
   * @throws IllegalArgumentException if {@code mapKey} does not fit the columns of the map key,
   *     such as a decimal with too many digits
   */
  public void request(int key, Row mapKey) {
    Entry entry = entry(key, mapKey);
    if (!isKnown(entry)) {
      requested.add(entry);
    }
  }

  /**
   * Says that all entries of a key will be read: the next call of {@link #entries} that needs the
   * state reads them too.
   *
   * @throws IndexOutOfBoundsException as {@link #request}
   */
  public void requestEntries(int key) {
    Objects.checkIndex(key, keyCount);
    if (!whole.contains(key)) {
      requestedKeys.add(key);
    }
  }

  /**
   * The values of an entry, in a row that the caller may keep; null if there is no entry.
   *
   * @throws IndexOutOfBoundsException as {@link #request}
   * @throws IllegalArgumentException as {@link #request}
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory for now: let
   *     it pass
   */
  public Row get(int key, Row mapKey) {
    Entry entry = entry(key, mapKey);
    if (!isKnown(entry)) {
      requested.add(entry);
      lookUp();
    }
    Row values = ofKey(known, key).get(entry.mapKey);
    return values == null ? null : valueRows.copy(values);
  }

  /** Whether there is an entry; throws as {@link #get}. */
  public boolean contains(int key, Row mapKey) {
    return get(key, mapKey) != null;
  }

  /**
   * Puts an entry, in the place of the one with the same map key if there is one. This looks
   * nothing up.
   *
   * @param values of the entry, each of which may be null
   * @throws IndexOutOfBoundsException as {@link #request}
   * @throws IllegalArgumentException as {@link #request}, or if {@code values} does not fit the
   *     value columns
   */
  public void put(int key, Row mapKey, Row values) {
    change(entry(key, mapKey), valueRows.asInColumns(values));
  }

  /** Removes an entry, if there is one; throws as {@link #request}. This looks nothing up. */
  public void remove(int key, Row mapKey) {
    change(entry(key, mapKey), null);
  }

  /**
   * The entries of a key, in no particular order: a copy. If they are not known yet, this reads the
   * entries of all keys of the subtask, so it takes time for the size of the whole map; the entries
   * of this key and of those that were {@linkplain #requestEntries requested} must fit the Java
   * heap.
   *
   * @throws IndexOutOfBoundsException as {@link #request}
   * @throws io.millrace.device.GpuOutOfMemoryException as {@link #get}
   */
  public Map<Row, Row> entries(int key) {
    requestEntries(key);
    if (!whole.contains(key)) {
      readEntries();
    }
    Map<Row, Row> entries = new HashMap<>();
    ofKey(known, key)
        .forEach(
            (mapKey, values) -> {
              if (values != null) {
                entries.put(keyRows.copy(mapKey), valueRows.copy(values));
              }
            });
    return entries;
  }

  /**
   * Removes all entries of a key. Behind the function, the map keys of all keys that were cleared
   * are read together, as by {@link #entries}, and must fit the Java heap.
   *
   * @throws IndexOutOfBoundsException as {@link #request}
   */
  public void clear(int key) {
    Objects.checkIndex(key, keyCount);
    Map<Row, Row> entries = ofKey(known, key);
    if (whole.add(key)) {
      requestedKeys.remove(key);
      cleared.add(key);
    }
    if (cleared.contains(key)) {
      entries.clear();
      changes.remove(key);
    } else {
      entries.forEach(
          (mapKey, values) -> {
            if (values != null) {
              ofKey(changes, key).put(mapKey, null);
            }
          });
      entries.replaceAll((mapKey, values) -> null);
    }
  }

  private Entry entry(int key, Row mapKey) {
    Objects.checkIndex(key, keyCount);
    return new Entry(key, keyRows.asInColumns(mapKey));
  }

  private static Map<Row, Row> ofKey(Map<Integer, Map<Row, Row>> entries, int key) {
    return entries.computeIfAbsent(key, absent -> new LinkedHashMap<>());
  }

  private boolean isKnown(Entry entry) {
    return whole.contains(entry.key) || ofKey(known, entry.key).containsKey(entry.mapKey);
  }

  private void change(Entry entry, Row values) {
    ofKey(known, entry.key).put(entry.mapKey, values);
    ofKey(changes, entry.key).put(entry.mapKey, values);
  }

  // What the batch has changed is newer than the state.
  private void learn(Entry entry, Row values) {
    if (!isKnown(entry)) {
      ofKey(known, entry.key).put(entry.mapKey, values);
    }
  }

  private void lookUp() {
    try (RowTableBuilder builder = transfer.tableBuilder(schema.requests())) {
      ExternalRowAppender rows = new ExternalRowAppender(builder);
      requested.forEach(entry -> rows.append(Row.join(Row.of(entry.key), entry.mapKey)));
      try (Table requests = transfer.upload(builder.finish(requested.size()));
          Table found = reader.find(schema.name(), requests);
          Table host = transfer.toHost(found);
          Table values = host.select(schema.values().names());
          AccessScope scope = AccessScope.on(context.hostStream())) {
        RowDecoder<Row> decoder = valueRows.decoder(values, scope);
        ColumnReader isPresent = new ColumnReader(host.column(MapStateSchema.IS_PRESENT), scope);
        for (int row = 0; row < requested.size(); row++) {
          learn(requested.get(row), isPresent.getBoolean(row) ? decoder.decode(row) : null);
        }
      }
    }
    requested = new ArrayList<>();
  }

  private void readEntries() {
    readEntries(
        requestedKeys,
        schema.entries(),
        (host, scope) -> {
          try (Table values = host.select(schema.values().names())) {
            RowDecoder<Row> value = valueRows.decoder(values, scope);
            forEachEntry(host, scope, (row, entry) -> learn(entry, value.decode(row)));
          }
        });
    whole.addAll(requestedKeys);
    requestedKeys.clear();
  }

  // Columns of those of keys in the state, in host memory.
  private void readEntries(
      Collection<Integer> keys, Schema columns, BiConsumer<Table, AccessScope> action) {
    try (RowTableBuilder builder = transfer.tableBuilder(schema.keyRequests())) {
      keys.forEach(((FixedWidthColumnBuilder) builder.column(0))::appendInt);
      try (Table requests = transfer.upload(builder.finish(keys.size()));
          Table entries = reader.entries(schema.name(), requests);
          Table selected = entries.select(columns.names());
          Table host = transfer.toHost(selected);
          AccessScope scope = AccessScope.on(context.hostStream())) {
        action.accept(host, scope);
      }
    }
  }

  private void forEachEntry(Table host, AccessScope scope, BiConsumer<Integer, Entry> action) {
    try (Table mapKeys = host.select(schema.keys().names())) {
      RowDecoder<Row> mapKey = keyRows.decoder(mapKeys, scope);
      ColumnReader keys = new ColumnReader(host.column(MapStateSchema.KEY), scope);
      for (int row = 0; row < host.rowCount(); row++) {
        action.accept(row, new Entry(keys.getInt(row), mapKey.decode(row)));
      }
    }
  }

  /** Rows of {@link MapStateSchema#changes} on the device; null if nothing was changed. */
  Table upload() {
    if (!cleared.isEmpty()) {
      readEntries(
          cleared,
          schema.requests(),
          (host, scope) -> forEachEntry(host, scope, this::removeCleared));
    }
    int count = changes.values().stream().mapToInt(Map::size).sum();
    if (count == 0) {
      return null;
    }
    try (RowTableBuilder builder = transfer.tableBuilder(schema.changes())) {
      ExternalRowAppender rows = new ExternalRowAppender(builder);
      changes.forEach(
          (key, entries) ->
              entries.forEach((mapKey, values) -> rows.append(changeRow(key, mapKey, values))));
      return transfer.upload(builder.finish(count));
    }
  }

  private void removeCleared(int row, Entry entry) {
    ofKey(changes, entry.key).putIfAbsent(entry.mapKey, null);
  }

  private Row changeRow(int key, Row mapKey, Row values) {
    boolean isPut = values != null;
    return Row.join(
        Row.of(key), mapKey, isPut ? values : new Row(schema.values().size()), Row.of(isPut));
  }
}
