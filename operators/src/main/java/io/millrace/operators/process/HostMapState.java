// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.ColumnReader;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.ExternalRowAppender;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.types.Row;

/**
 * A map of a {@link HostKeyedBatch}, entry by entry: what a batch puts and removes is seen by later
 * reads, and takes effect with the result of the function. Keys and values are rows with the Java
 * types of Flink's Table API, as {@link ExternalRowDecoder} makes them.
 *
 * <p>An entry is looked up in the state when it is first read, together with all entries that were
 * {@linkplain #request requested} before: a look-up costs launches and a copy, however many entries
 * it has. So request the entries of the whole batch first, and then read them.
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
  private final Map<Entry, Row> changes = new LinkedHashMap<>();
  private List<Entry> requested = new ArrayList<>();
  private boolean isWhole;

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
   * @throws IllegalArgumentException if {@code mapKey} has not the columns of the map key
   */
  public void request(int key, Row mapKey) {
    Entry entry = entry(key, mapKey);
    if (!isKnown(entry)) {
      requested.add(entry);
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
    Row values = ofKey(key).get(entry.mapKey);
    return values == null ? null : Row.copy(values);
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
   * @throws IllegalArgumentException as {@link #request}, or if {@code values} has not the value
   *     columns
   */
  public void put(int key, Row mapKey, Row values) {
    change(entry(key, mapKey), valueRows.copy(values));
  }

  /** Removes an entry, if there is one; throws as {@link #request}. This looks nothing up. */
  public void remove(int key, Row mapKey) {
    change(entry(key, mapKey), null);
  }

  /**
   * The entries of a key, in no particular order: a copy. The first call in a batch reads the
   * entries of all keys of the subtask, so it takes time for the size of the whole map.
   *
   * @throws IndexOutOfBoundsException as {@link #request}
   * @throws io.millrace.device.GpuOutOfMemoryException as {@link #get}
   */
  public Map<Row, Row> entries(int key) {
    Objects.checkIndex(key, keyCount);
    readAll();
    Map<Row, Row> entries = new HashMap<>();
    ofKey(key)
        .forEach(
            (mapKey, values) -> {
              if (values != null) {
                entries.put(Row.copy(mapKey), Row.copy(values));
              }
            });
    return entries;
  }

  /** Removes all entries of a key: reads and throws as {@link #entries}. */
  public void clear(int key) {
    entries(key).keySet().forEach(mapKey -> remove(key, mapKey));
  }

  private Entry entry(int key, Row mapKey) {
    Objects.checkIndex(key, keyCount);
    return new Entry(key, keyRows.copy(mapKey));
  }

  private Map<Row, Row> ofKey(int key) {
    return known.computeIfAbsent(key, absent -> new HashMap<>());
  }

  private boolean isKnown(Entry entry) {
    return isWhole || ofKey(entry.key).containsKey(entry.mapKey);
  }

  private void change(Entry entry, Row values) {
    ofKey(entry.key).put(entry.mapKey, values);
    changes.put(entry, values);
  }

  // What the batch has changed is newer than the state.
  private void learn(Entry entry, Row values) {
    if (!ofKey(entry.key).containsKey(entry.mapKey)) {
      ofKey(entry.key).put(entry.mapKey, values);
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

  private void readAll() {
    if (isWhole) {
      return;
    }
    try (Table all = reader.entries(schema.name());
        Table host = transfer.toHost(all);
        Table mapKeys = host.select(schema.keys().names());
        Table values = host.select(schema.values().names());
        AccessScope scope = AccessScope.on(context.hostStream())) {
      RowDecoder<Row> mapKey = keyRows.decoder(mapKeys, scope);
      RowDecoder<Row> value = valueRows.decoder(values, scope);
      ColumnReader keys = new ColumnReader(host.column(MapStateSchema.KEY), scope);
      for (int row = 0; row < host.rowCount(); row++) {
        learn(new Entry(keys.getInt(row), mapKey.decode(row)), value.decode(row));
      }
    }
    isWhole = true;
  }

  /** Rows of {@link MapStateSchema#changes} on the device; null if nothing was changed. */
  Table upload() {
    if (changes.isEmpty()) {
      return null;
    }
    try (RowTableBuilder builder = transfer.tableBuilder(schema.changes())) {
      ExternalRowAppender rows = new ExternalRowAppender(builder);
      Row noValues = new Row(schema.values().size());
      changes.forEach(
          (entry, values) ->
              rows.append(
                  Row.join(
                      Row.of(entry.key),
                      entry.mapKey,
                      values == null ? noValues : values,
                      Row.of(values != null))));
      return transfer.upload(builder.finish(changes.size()));
    }
  }
}
