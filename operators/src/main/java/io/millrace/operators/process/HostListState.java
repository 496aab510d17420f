// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.ColumnReader;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.ExternalRowAppender;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.types.Row;

/**
 * A list of a {@link HostKeyedBatch}: what a batch adds is seen by later reads, and takes effect
 * with the result of the function. Elements are rows with the Java types of Flink's Table API, as
 * {@link io.millrace.operators.row.ExternalRowDecoder} makes them, and are copied. They have what
 * their columns keep, as in a {@link HostMapState}.
 *
 * <p>A list is looked up in the state when it is first read, together with all lists that were
 * {@linkplain #request requested} before: so request the lists of the whole batch first, and then
 * read them. Adding reads nothing but the lengths of lists.
 */
@PublicEvolving
public final class HostListState {
  private final ListStateSchema schema;
  private final ExternalRows elementRows;
  private final EntryReader reader;
  private final HostTransfer transfer;
  private final DeviceContext context;
  private final int keyCount;
  // By the number of the key: the elements before the batch.
  private final Map<Integer, List<Row>> known = new HashMap<>();
  private final Map<Integer, Change> changes = new LinkedHashMap<>();
  private Set<Integer> requested = new LinkedHashSet<>();

  private static final class Change {
    private final List<Row> added = new ArrayList<>();
    private boolean isCleared;
  }

  HostListState(
      ListStateSchema schema, ExternalRows elementRows, KeyedBatch batch, HostTransfer transfer) {
    this.schema = schema;
    this.elementRows = elementRows;
    this.reader = batch.entries();
    this.transfer = transfer;
    this.context = batch.device();
    this.keyCount = batch.keys().rowCount();
  }

  /**
   * Says that a list will be read: the next read that needs the state looks it up too.
   *
   * @param key the number of its key in the batch
   * @throws IndexOutOfBoundsException if the batch has no such key
   */
  public void request(int key) {
    Objects.checkIndex(key, keyCount);
    if (!known.containsKey(key)) {
      requested.add(key);
    }
  }

  /**
   * The elements of a key in their order, in a list that the caller may keep; empty if there are
   * none.
   *
   * @throws IndexOutOfBoundsException as {@link #request}
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory for now: let
   *     it pass
   */
  public List<Row> get(int key) {
    Change change = change(key);
    List<Row> elements = new ArrayList<>();
    if (!change.isCleared) {
      request(key);
      lookUp();
      known.get(key).forEach(element -> elements.add(elementRows.copy(element)));
    }
    change.added.forEach(element -> elements.add(elementRows.copy(element)));
    return elements;
  }

  /**
   * Adds an element behind the others.
   *
   * @throws IndexOutOfBoundsException as {@link #request}
   * @throws IllegalArgumentException if the element does not fit the columns of the list, such as a
   *     decimal with too many digits
   */
  public void add(int key, Row element) {
    change(key).added.add(elementRows.asInColumns(element));
  }

  /** Replaces all elements of a key; throws as {@link #add}. */
  public void update(int key, List<Row> elements) {
    clear(key);
    elements.forEach(element -> add(key, element));
  }

  /** Removes all elements of a key; throws as {@link #request}. */
  public void clear(int key) {
    Change change = change(key);
    change.isCleared = true;
    change.added.clear();
  }

  private Change change(int key) {
    Objects.checkIndex(key, keyCount);
    return changes.computeIfAbsent(key, absent -> new Change());
  }

  private void lookUp() {
    if (requested.isEmpty()) {
      return;
    }
    Map<Integer, List<Row>> found = new HashMap<>();
    requested.forEach(key -> found.put(key, new ArrayList<>()));
    try (RowTableBuilder builder = transfer.tableBuilder(schema.requests())) {
      requested.forEach(((FixedWidthColumnBuilder) builder.column(0))::appendInt);
      try (Table requests = transfer.upload(builder.finish(requested.size()));
          Table read = reader.elements(schema.name(), requests);
          Table host = transfer.toHost(read);
          Table elements = host.select(schema.elements().names());
          AccessScope scope = AccessScope.on(context.hostStream())) {
        ColumnReader keys = new ColumnReader(host.column(0), scope);
        RowDecoder<Row> decoder = elementRows.decoder(elements, scope);
        for (int row = 0; row < host.rowCount(); row++) {
          found.get(keys.getInt(row)).add(decoder.decode(row));
        }
      }
    }
    known.putAll(found);
    requested = new LinkedHashSet<>();
  }

  /** Rows of {@link ListStateSchema#changes} on the device; null if nothing was changed. */
  Table upload() {
    try (RowTableBuilder builder = transfer.tableBuilder(schema.changes())) {
      ExternalRowAppender rows = new ExternalRowAppender(builder);
      Row noElement = new Row(schema.elements().size());
      changes.forEach(
          (key, change) -> {
            if (change.isCleared) {
              rows.append(Row.join(Row.of(key), noElement, Row.of(false)));
            }
            change.added.forEach(
                element -> rows.append(Row.join(Row.of(key), element, Row.of(true))));
          });
      int count = builder.column(0).size();
      return count == 0 ? null : transfer.upload(builder.finish(count));
    }
  }
}
