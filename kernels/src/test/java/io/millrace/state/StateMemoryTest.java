// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.StagingRequests;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whichever request for memory of an operation on state is refused, of the device's or of staging
 * memory, the state stays as it was, and another attempt gives the result.
 */
class StateMemoryTest {
  private static final Schema INPUT =
      Schema.of(
          Field.of("k", DataType.INT64),
          Field.of("s", DataType.STRING),
          new Field("v", DataType.INT64, false),
          new Field("x", DataType.FLOAT64, false),
          new Field("d", DataType.decimal(30, 2), false));
  private static final StateSchema NUMBERS = schema(0);
  private static final StateSchema STRINGS = schema(1);
  private static final StateSchema LISTS =
      new StateSchema(
          INPUT,
          List.of(0),
          List.of(
              new Accumulator("max", Function.MAX, 1),
              new Accumulator("list", Function.LISTAGG, 1)),
          StateSchema.NO_KINDS);
  // More rows than the first chunk and the first index have room for.
  private static final int ROWS = 3_000;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static StateSchema schema(int key) {
    return new StateSchema(
        INPUT,
        List.of(key),
        List.of(
            new Accumulator("sum", Function.SUM, 2),
            new Accumulator("floating", Function.SUM, 3),
            new Accumulator("decimal", Function.SUM, 4)),
        StateSchema.NO_KINDS);
  }

  private final AtomicInteger requests = new AtomicInteger();
  private int refused;
  private StateSchema schema;
  private boolean counts;

  /** Works on a table that has some rows, and gives what it saw. */
  @FunctionalInterface
  interface Operation {
    List<?> apply(StateMemoryTest test, StateTable table, MemoryResource memory) throws IOException;
  }

  static Stream<Arguments> operations() {
    return Stream.of(
            Map.entry("update", (Operation) StateMemoryTest::update),
            Map.entry("update with a slice", (Operation) StateMemoryTest::updateWithSlice),
            Map.entry("read", (Operation) StateMemoryTest::read),
            Map.entry("epochs of pages", (Operation) StateMemoryTest::pageEpochs),
            Map.entry("keys", (Operation) StateMemoryTest::keys),
            Map.entry("merge", (Operation) StateMemoryTest::merge),
            Map.entry("merge an extent", (Operation) StateMemoryTest::mergeExtent),
            Map.entry("accumulate", (Operation) StateMemoryTest::accumulate),
            Map.entry("values", (Operation) StateMemoryTest::values),
            Map.entry("partials", (Operation) StateMemoryTest::partials))
        .flatMap(
            operation ->
                Stream.of(NUMBERS, STRINGS, LISTS)
                    .map(schema -> Arguments.of(operation.getKey(), schema, operation.getValue())));
  }

  private List<?> update(StateTable table, MemoryResource memory) {
    try (Table batch = batch(ROWS / 2, 2 * ROWS)) {
      count();
      try (Table changes = table.update(batch)) {
        countNoMore();
        return device.rows(changes);
      }
    }
  }

  private List<?> updateWithSlice(StateTable table, MemoryResource memory) {
    try (Table whole = batch(ROWS / 2, 2 * ROWS);
        Table batch = whole.slice(ROWS / 4, ROWS)) {
      count();
      try (Table changes = table.update(batch)) {
        countNoMore();
        return device.rows(changes);
      }
    }
  }

  private List<?> keys(StateTable table, MemoryResource memory) throws IOException {
    List<Object> all = new ArrayList<>();
    MemoryResource failing =
        new FailingResourceAdaptor(device.hostMemory(), (n, bytes) -> isRefused());
    try (StateSnapshot snapshot = table.snapshot()) {
      snapshot.read(
          device.stream(),
          block -> {
            count();
            try (Table keys = block.keys(device.hostStream(), failing)) {
              all.addAll(TableRows.ofHost(keys, device.hostStream()));
            }
            countNoMore();
          });
    }
    return all;
  }

  private List<?> read(StateTable table, MemoryResource memory) throws IOException {
    try (StateSnapshot snapshot = table.snapshot()) {
      count();
      List<Long> words = SnapshotWords.of(snapshot, device);
      countNoMore();
      return words;
    }
  }

  private List<?> pageEpochs(StateTable table, MemoryResource memory) {
    try (StateSnapshot snapshot = table.snapshot()) {
      count();
      long[] epochs = snapshot.pageEpochs(device.stream());
      countNoMore();
      return List.of(epochs.length);
    }
  }

  private List<?> merge(StateTable table, MemoryResource memory) throws IOException {
    try (StateTable other = new StateTable(table.schema(), device.stream(), device.memory());
        Table batch = batch(ROWS / 2, 2 * ROWS)) {
      other.update(batch).close();
      try (StateSnapshot snapshot = other.snapshot()) {
        snapshot.read(
            device.stream(),
            block -> {
              count();
              table.merge(block);
              countNoMore();
            });
      }
    }
    return words(table);
  }

  private List<?> mergeExtent(StateTable table, MemoryResource memory) throws IOException {
    try (StateTable other = new StateTable(schema, device.stream(), device.memory());
        Table batch = batch(ROWS / 2, 2 * ROWS)) {
      other.accumulate(batch);
      try (StateSnapshot rows = other.snapshot()) {
        count();
        table.merge(rows, 0);
        countNoMore();
      }
    }
    return words(table);
  }

  private List<?> accumulate(StateTable table, MemoryResource memory) throws IOException {
    try (Table batch = batch(ROWS / 2, 2 * ROWS)) {
      count();
      table.accumulate(batch);
      countNoMore();
    }
    return words(table);
  }

  private List<?> partials(StateTable table, MemoryResource memory) {
    count();
    try (Table partials = table.partials(100, 500)) {
      countNoMore();
      return device.rows(partials);
    }
  }

  private List<?> values(StateTable table, MemoryResource memory) {
    count();
    try (Table values = table.values(100, 500, List.of())) {
      countNoMore();
      return device.rows(values);
    }
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("operations")
  void eachRefusalLeavesTheStateAsItWas(String name, StateSchema schema, Operation operation)
      throws IOException {
    this.schema = schema;
    StagingRequests.listen(device.device().stagingPool(), this::requestStaging);
    int all = run(operation, 0, List.of());
    List<?> expected = results(operation);
    assertThat(all).isPositive();
    for (int number = 1; number <= all; number++) {
      run(operation, number, expected);
    }
  }

  private List<?> results(Operation operation) throws IOException {
    try (StateTable table = filled(device.memory())) {
      return operation.apply(this, table, device.memory());
    }
  }

  // Gives the number of requests.
  private int run(Operation operation, int refusedRequest, List<?> expected) throws IOException {
    MemoryResource memory = new FailingResourceAdaptor(device.memory(), (n, bytes) -> isRefused());
    countNoMore();
    try (StateTable table = filled(memory)) {
      List<Long> before = words(table);
      requests.set(0);
      refused = refusedRequest;
      if (refusedRequest == 0) {
        operation.apply(this, table, memory);
        return requests.get();
      }
      assertThatThrownBy(() -> operation.apply(this, table, memory))
          .isInstanceOf(GpuOutOfMemoryException.class);
      countNoMore();
      assertThat(words(table)).isEqualTo(before);
      refused = 0;
      assertThat(operation.apply(this, table, memory)).isEqualTo(expected);
      return 0;
    }
  }

  private StateTable filled(MemoryResource memory) {
    StateTable table = new StateTable(schema, device.stream(), memory);
    try (Table batch = batch(0, 700)) {
      table.update(batch).close();
    }
    return table;
  }

  private Table batch(long first, long end) {
    List<List<Object>> rows = new ArrayList<>();
    for (long key = first; key < end; key++) {
      String string = key % 3 == 0 ? "" + key : "a string of more than 12 bytes: " + key;
      rows.add(List.of(key, string, key, key / 3.0, BigDecimal.valueOf(-key, 2)));
    }
    return TableBuilder.ofRows(INPUT, rows).build(device);
  }

  private List<Long> words(StateTable table) throws IOException {
    try (StateSnapshot snapshot = table.snapshot()) {
      return SnapshotWords.of(snapshot, device);
    }
  }

  private void count() {
    counts = true;
  }

  private void countNoMore() {
    counts = false;
  }

  private boolean isRefused() {
    return counts && requests.incrementAndGet() == refused;
  }

  private void requestStaging(long bytes) {
    if (isRefused()) {
      throw new GpuOutOfMemoryException("no staging memory");
    }
  }

  @AfterEach
  void refuseNoMore() {
    StagingRequests.ignore(device.device().stagingPool());
  }
}
