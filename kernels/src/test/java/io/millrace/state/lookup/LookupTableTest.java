// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.lookup;

import static java.util.Collections.nCopies;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows that are found by their keys, compared with maps. */
class LookupTableTest {
  private static final Schema ROWS =
      Schema.of(
          Field.of("text", DataType.STRING),
          new Field("name", DataType.STRING, false),
          new Field("number", DataType.INT32, false),
          new Field("id", DataType.INT64, false),
          Field.of("time", DataType.timestamp(9)));
  private static final List<String> KEYS = List.of("id", "name");
  private static final Schema ASKED =
      Schema.of(Field.of("a", DataType.INT64), Field.of("b", DataType.STRING));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private LookupTableBuilder builder(Schema schema, List<String> keys) {
    return new LookupTableBuilder(schema, keys, device.stream(), device.memory());
  }

  private LookupReader reader() {
    return new LookupReader(device.stream(), device.memory());
  }

  private static List<Object> row(int key) {
    return Arrays.asList(
        key % 5 == 0 ? null : "text of " + key,
        key % 2 == 0 ? "short" : "a name of more than twelve bytes",
        key,
        (long) key,
        null);
  }

  private LookupTable build(List<List<Object>> rows, Random random) {
    try (LookupTableBuilder builder = builder(ROWS, KEYS)) {
      for (int first = 0; first < rows.size(); ) {
        int end = Math.min(rows.size(), first + 1 + random.nextInt(30_000));
        try (Table part = TableBuilder.ofRows(ROWS, rows.subList(first, end)).build(device)) {
          builder.add(part);
        }
        first = end;
      }
      return builder.build();
    }
  }

  private static List<List<Object>> numbered(int count) {
    List<List<Object>> rows = new ArrayList<>();
    for (int key = 0; key < count; key++) {
      rows.add(row(3 * key));
    }
    return rows;
  }

  private static List<Object> value(List<Object> row) {
    return row == null ? nCopies(3, null) : Arrays.asList(row.get(0), row.get(2), row.get(4));
  }

  @RowCountTest
  void eachKeyFindsItsRow(int rows) {
    Random random = seed.random();
    List<List<Object>> known = numbered(rows);
    Map<List<Object>, List<Object>> model = new LinkedHashMap<>();
    known.forEach(row -> model.put(List.of(row.get(3), row.get(1)), row));
    List<List<Object>> asked = new ArrayList<>();
    for (int i = 0; i <= rows; i++) {
      List<Object> row = row(random.nextInt(4 * rows + 1));
      boolean hasNull = random.nextInt(10) == 0;
      asked.add(Arrays.asList(hasNull ? null : row.get(3), row.get(1)));
    }
    List<List<Object>> order = new ArrayList<>(model.keySet());
    Map<List<Object>, Integer> numbers = new LinkedHashMap<>();
    order.forEach(key -> numbers.put(key, numbers.size()));
    try (LookupTable table = build(known, random);
        LookupReader reader = reader();
        Table keys = TableBuilder.ofRows(ASKED, asked).build(device);
        Column found = reader.rows(table, keys);
        Table values = table.values(found, device.stream(), device.memory())) {
      assertThat(table.rowCount()).isEqualTo(rows);
      assertThat(TableRows.of(found, device))
          .isEqualTo(asked.stream().map(key -> (Object) numbers.getOrDefault(key, -1)).toList());
      assertThat(values.schema()).isEqualTo(table.valueSchema());
      assertThat(device.rows(values))
          .isEqualTo(asked.stream().map(key -> value(model.get(key))).toList());
    }
  }

  private static Stream<DataType> keyTypes() {
    return Stream.of(
        DataType.BOOL,
        DataType.INT8,
        DataType.INT16,
        DataType.INT32,
        DataType.INT64,
        DataType.FLOAT32,
        DataType.FLOAT64,
        DataType.decimal(9, 2),
        DataType.decimal(18, 2),
        DataType.decimal(38, 10),
        DataType.DATE,
        DataType.TIME,
        DataType.timestamp(3),
        DataType.timestamp(6),
        DataType.timestamp(9),
        DataType.STRING,
        DataType.BINARY);
  }

  @ParameterizedTest
  @MethodSource("keyTypes")
  void keysOfEachType(DataType type) {
    RandomTables tables = new RandomTables(seed.random(), 0.1);
    Schema schema =
        Schema.of(new Field("key", type, false), new Field("value", DataType.INT32, false));
    Map<Object, List<Object>> model = new LinkedHashMap<>();
    for (List<Object> row : tables.rows(schema, 500)) {
      model.put(row.get(0), row);
    }
    Schema askedSchema = Schema.of(Field.of("asked", type));
    List<List<Object>> asked = tables.rows(askedSchema, 500);
    try (LookupTableBuilder builder = builder(schema, List.of("key"));
        Table rows = TableBuilder.ofRows(schema, List.copyOf(model.values())).build(device)) {
      builder.add(rows);
      try (LookupTable table = builder.build();
          LookupReader reader = reader();
          Table keys = TableBuilder.ofRows(askedSchema, asked).build(device);
          Table slice = keys.slice(3, 400);
          Column found = device.assertLaunches(1, () -> reader.rows(table, slice));
          Table values = table.values(found, device.stream(), device.memory())) {
        List<List<Object>> expected = new ArrayList<>();
        for (List<Object> key : asked.subList(3, 403)) {
          List<Object> row = model.get(key.get(0));
          expected.add(Arrays.asList(row == null ? null : row.get(1)));
        }
        assertThat(device.rows(values)).isEqualTo(expected);
      }
    }
  }

  @Test
  void keysThatAreThereTwiceAreRefused() {
    try (LookupTableBuilder builder = builder(ROWS, KEYS);
        Table part = TableBuilder.ofRows(ROWS, numbered(3)).build(device)) {
      builder.add(part);
      assertThatThrownBy(() -> builder.add(part))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected a row for each key [id, name], got 6 rows with 3 different keys");
    }
  }

  @Test
  void keysWithNullsAndOtherTypesAreRefused() {
    Schema nullable = Schema.of(Field.of("id", DataType.INT64), Field.of("name", DataType.STRING));
    try (LookupTableBuilder builder = builder(nullable, List.of("id"));
        Table part =
            TableBuilder.ofRows(nullable, List.of(Arrays.asList(null, "a"))).build(device)) {
      assertThatThrownBy(() -> builder.add(part))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected keys without nulls, got one in column 'id'");
    }
    try (LookupTable table = build(numbered(2), seed.random());
        LookupReader reader = reader();
        Table keys = TableBuilder.ofRows(ROWS, numbered(2)).build(device)) {
      assertThatThrownBy(() -> reader.rows(table, keys))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("expected keys of the types of [BIGINT, STRING], got [STRING, ");
    }
    Schema list =
        Schema.of(Field.of("id", DataType.INT64), Field.of("l", DataType.list(DataType.INT32)));
    assertThatThrownBy(() -> builder(list, List.of("id")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "expected a type other than ARRAY, ROW and DICTIONARY for column 'l'");
  }

  @Test
  void anyNumberOfThreadsLookUpOnStreamsOfTheirOwn() throws Exception {
    List<List<Object>> known = numbered(40_000);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (LookupTable table = build(known, seed.random())) {
      List<Future<?>> lookups = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        List<List<Object>> part = known.subList(thread * 10_000, (thread + 1) * 10_000);
        lookups.add(threads.submit(() -> lookUp(table, part)));
      }
      for (Future<?> lookup : lookups) {
        lookup.get();
      }
    } finally {
      threads.shutdown();
    }
  }

  private void lookUp(LookupTable table, List<List<Object>> rows) {
    List<List<Object>> keys = rows.stream().map(row -> List.of(row.get(3), row.get(1))).toList();
    try (DeviceStream stream = device.device().createStream();
        LookupReader reader = new LookupReader(stream, device.memory());
        Table asked = TableBuilder.ofRows(ASKED, keys).build(device)) {
      for (int round = 0; round < 10; round++) {
        try (Column found = reader.rows(table, asked);
            Table values = table.values(found, stream, device.memory())) {
          assertThat(device.rows(values))
              .isEqualTo(rows.stream().map(LookupTableTest::value).toList());
        }
      }
    }
  }

  @Test
  void memoryThatIsRefusedLeavesNothing() {
    long held = device.heldBytes();
    List<List<Object>> rows = numbered(300);
    List<List<Object>> asked = rows.stream().map(row -> List.of(row.get(3), row.get(1))).toList();
    try (Table part = TableBuilder.ofRows(ROWS, rows).build(device);
        Table keys = TableBuilder.ofRows(ASKED, asked).build(device)) {
      long before = device.heldBytes();
      int refused = 0;
      for (boolean isDone = false; !isDone; refused++) {
        MemoryResource failing = FailingResourceAdaptor.nth(device.memory(), refused + 1);
        try (LookupTableBuilder builder =
            new LookupTableBuilder(ROWS, KEYS, device.stream(), failing)) {
          builder.add(part);
          try (LookupTable table = builder.build();
              LookupReader reader = new LookupReader(device.stream(), failing);
              Column found = reader.rows(table, keys);
              Table values = table.values(found, device.stream(), failing)) {
            assertThat(values.rowCount()).isEqualTo(300);
            isDone = true;
          }
        } catch (GpuOutOfMemoryException e) {
          assertThat(refused).isLessThan(1000);
        }
        assertThat(device.heldBytes()).isEqualTo(before);
      }
      assertThat(refused).isGreaterThan(20);
    }
    assertThat(device.heldBytes()).isEqualTo(held);
  }
}
