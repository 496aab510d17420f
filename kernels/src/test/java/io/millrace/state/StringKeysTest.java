// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateSchema;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Strings as keys: short ones, which lie in the row, and long ones, which lie apart. */
class StringKeysTest {
  private static final Schema INPUT =
      Schema.of(
          Field.of("name", DataType.STRING),
          new Field("number", DataType.INT32, false),
          new Field("bytes", DataType.BINARY, false),
          new Field("value", DataType.INT64, false));
  private static final StateSchema NAMES = schema(List.of(0));
  private static final StateSchema ALL = schema(List.of(0, 1, 2));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private Random random;

  @BeforeEach
  void seedRandom() {
    random = seed.random();
  }

  private static StateSchema schema(List<Integer> keys) {
    return new StateSchema(
        INPUT,
        keys,
        List.of(Accumulator.countRows("rows"), new Accumulator("sum", Function.SUM, 3)),
        StateSchema.NO_KINDS);
  }

  private static List<Object> row(String name, byte[] bytes, long value) {
    return Arrays.asList(name, 7, ByteBuffer.wrap(bytes), value);
  }

  @Test
  void stringsThatDifferInOneByteAreDifferentKeys() {
    List<List<Object>> rows = new ArrayList<>();
    rows.add(row(null, new byte[0], 1));
    rows.add(row("", new byte[0], 2));
    for (int length = 1; length <= 40; length++) {
      rows.add(row("x".repeat(length), new byte[length], length));
      for (int at = 0; at < length; at++) {
        byte[] bytes = new byte[length];
        bytes[at] = (byte) 0x80;
        String name = "x".repeat(at) + "\0" + "x".repeat(length - at - 1);
        rows.add(row(name, bytes, at));
        rows.add(row("x".repeat(at) + "\u20ac", bytes, at));
      }
    }
    for (StateSchema schema : List.of(NAMES, schema(List.of(2)), ALL)) {
      try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
        StateModel model = new StateModel(schema);
        assertUpdate(table, model, rows);
        assertUpdate(table, model, rows);
      }
    }
  }

  @Test
  void randomStringsOfSeveralColumnsAreKeys() {
    for (int round = 0; round < 20; round++) {
      List<List<Object>> pool = pool(1 + random.nextInt(400), 40);
      try (StateTable table = new StateTable(ALL, device.stream(), device.memory())) {
        StateModel model = new StateModel(ALL);
        for (int batch = 0; batch < 5; batch++) {
          assertUpdate(table, model, choose(pool, random.nextInt(1_000)));
        }
      }
    }
  }

  @Test
  void longStringsGrowOverManyChunks() {
    try (StateTable table = new StateTable(ALL, device.stream(), device.memory())) {
      StateModel model = new StateModel(ALL);
      for (int batch = 0; batch < 6; batch++) {
        assertUpdate(table, model, pool(5_000, 400));
      }
      long most = table.reservedBytes();
      assertThat(most).isGreaterThan(2 * LongStrings.CHUNK_BYTES);
      assertRestored(table, model);
    }
  }

  @Test
  void stringMayBeLongerThanAChunk() {
    String huge = "0123456789abcdef".repeat((int) (LongStrings.CHUNK_BYTES / 16)) + "!";
    List<List<Object>> rows =
        List.of(
            row("a long string before", new byte[0], 1),
            row(huge + "1", new byte[0], 2),
            row(huge + "2", new byte[0], 3),
            row("a long string behind", new byte[0], 4));
    try (StateTable table = new StateTable(NAMES, device.stream(), device.memory())) {
      StateModel model = new StateModel(NAMES);
      assertUpdate(table, model, rows);
      assertUpdate(table, model, rows);
      assertRestored(table, model);
    }
  }

  @Test
  void slicesOfABatchAreUpdates() {
    List<List<Object>> rows = pool(500, 60);
    try (StateTable table = new StateTable(ALL, device.stream(), device.memory());
        Table whole = TableBuilder.ofRows(INPUT, rows).build(device)) {
      StateModel model = new StateModel(ALL);
      for (int first : new int[] {0, 1, 250, 499, 500}) {
        for (int end : new int[] {first, (first + 500) / 2, 500}) {
          try (Table batch = whole.slice(first, end - first)) {
            assertUpdate(table, model, batch, rows.subList(first, end));
          }
        }
      }
    }
  }

  @Test
  void stateIsTheSameOnTheHost() {
    List<List<Object>> pool = pool(3_000, 50);
    List<List<Object>> first = choose(pool, 4_000);
    List<List<Object>> second = choose(pool, 4_000);
    assertThat(words(first, second, device.stream(), device.memory()))
        .isEqualTo(words(first, second, device.hostStream(), device.hostMemory()));
  }

  private List<Long> words(
      List<List<Object>> first,
      List<List<Object>> second,
      DeviceStream stream,
      MemoryResource memory) {
    try (StateTable table = new StateTable(ALL, stream, memory);
        Table a = TableBuilder.ofRows(INPUT, first).build(device);
        Table b = TableBuilder.ofRows(INPUT, second).build(device);
        Table firstBatch = a.copyTo(memory, stream, device.stream());
        Table secondBatch = b.copyTo(memory, stream, device.stream())) {
      device.stream().synchronize();
      table.update(firstBatch).close();
      table.update(secondBatch).close();
      try (StateSnapshot snapshot = table.snapshot()) {
        return SnapshotWords.of(snapshot, stream);
      }
    }
  }

  @Test
  void snapshotIsNotChangedByLaterBatches() {
    List<List<Object>> pool = pool(4_000, 300);
    try (StateTable table = new StateTable(ALL, device.stream(), device.memory())) {
      StateModel model = new StateModel(ALL);
      List<StateSnapshot> snapshots = new ArrayList<>();
      List<List<Long>> words = new ArrayList<>();
      for (int batch = 0; batch < 5; batch++) {
        assertUpdate(table, model, choose(pool, 1_500));
        StateSnapshot snapshot = table.snapshot();
        snapshots.add(snapshot);
        words.add(SnapshotWords.of(snapshot, device));
      }
      for (int i = 0; i < snapshots.size(); i++) {
        assertThat(SnapshotWords.of(snapshots.get(i), device)).isEqualTo(words.get(i));
        snapshots.get(i).close();
      }
      assertRestored(table, model);
    }
  }

  // The blocks of a snapshot, with some rows dropped, make a table with the other rows.
  @Test
  void chosenRowsOfBlocksMakeATable() throws IOException {
    try (StateTable table = new StateTable(ALL, device.stream(), device.memory());
        StateTable restored = new StateTable(ALL, device.stream(), device.memory())) {
      assertUpdate(table, new StateModel(ALL), pool(20_000, 500));
      List<List<Object>> kept = new ArrayList<>();
      try (StateSnapshot snapshot = table.snapshot()) {
        snapshot.read(
            device.stream(),
            block -> {
              assertThat(block.byteCount() + block.stringBytes())
                  .isLessThanOrEqualTo(StateSnapshot.BLOCK_BYTES);
              assertThat(block.hasAllStrings()).isTrue();
              keepSome(block);
              kept.addAll(keys(block));
              restored.merge(block);
            });
      }
      assertThat(keys(restored)).isEqualTo(kept);
      assertThat(restored.reservedBytes()).isLessThan(table.reservedBytes());
    }
  }

  @Test
  void blocksThatLackAStringAreNoticed() throws IOException {
    try (StateTable table = new StateTable(NAMES, device.stream(), device.memory())) {
      assertUpdate(table, new StateModel(NAMES), List.of(row("x".repeat(17), new byte[0], 1)));
      try (StateSnapshot snapshot = table.snapshot()) {
        snapshot.read(
            device.stream(),
            block -> {
              long head = block.address();
              for (long first : new long[] {1, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
                HostMemory.putLong(head + Long.BYTES, first);
                assertThat(block.hasAllStrings()).as("first word %d", first).isFalse();
              }
              HostMemory.putLong(head + Long.BYTES, 0);
              assertThat(block.hasAllStrings()).isTrue();
              for (int length : new int[] {25, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
                HostMemory.putInt(head, length);
                assertThat(block.hasAllStrings()).as("length %d", length).isFalse();
              }
            });
      }
    }
  }

  private void keepSome(StateBlock block) {
    int[] rows = new int[block.rowCount()];
    int count = 0;
    for (int row = 0; row < rows.length; row++) {
      if (random.nextInt(5) == 0) {
        rows[count++] = row;
      }
    }
    block.keep(rows, count);
  }

  private List<List<Object>> keys(StateTable table) throws IOException {
    List<List<Object>> keys = new ArrayList<>();
    try (StateSnapshot snapshot = table.snapshot()) {
      snapshot.read(device.stream(), block -> keys.addAll(keys(block)));
    }
    return keys;
  }

  private List<List<Object>> keys(StateBlock block) {
    try (Table keys = block.keys(device.hostStream(), device.hostMemory())) {
      return TableRows.ofHost(keys, device.hostStream());
    }
  }

  // A table of the snapshot's rows goes on as the table does.
  private void assertRestored(StateTable table, StateModel model) {
    try (StateTable restored = new StateTable(table.schema(), device.stream(), device.memory())) {
      try (StateSnapshot snapshot = table.snapshot()) {
        snapshot.read(device.stream(), restored::merge);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
      assertThat(words(restored)).isEqualTo(words(table));
      assertUpdate(restored, model, pool(100, 100));
    }
  }

  private List<Long> words(StateTable table) {
    try (StateSnapshot snapshot = table.snapshot()) {
      return SnapshotWords.of(snapshot, device);
    }
  }

  private List<List<Object>> pool(int count, int mostBytes) {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] bytes = new byte[random.nextInt(mostBytes + 1)];
      random.nextBytes(bytes);
      String name = random.nextInt(10) == 0 ? null : name(mostBytes);
      rows.add(Arrays.asList(name, random.nextInt(3), ByteBuffer.wrap(bytes), random.nextLong()));
    }
    return rows;
  }

  // Few letters and a common beginning, so that keys are equal and nearly equal.
  private String name(int mostLetters) {
    StringBuilder name = new StringBuilder();
    int letters = random.nextInt(random.nextBoolean() ? 14 : mostLetters + 1);
    for (int i = 0; i < letters; i++) {
      name.append(i < 5 ? 'p' : "ab\0\u00e4\u20ac".charAt(random.nextInt(5)));
    }
    return name.toString();
  }

  private List<List<Object>> choose(List<List<Object>> pool, int count) {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(pool.get(random.nextInt(pool.size())));
    }
    return rows;
  }

  private void assertUpdate(StateTable table, StateModel model, List<List<Object>> rows) {
    try (Table batch = TableBuilder.ofRows(INPUT, rows).build(device)) {
      assertUpdate(table, model, batch, rows);
    }
  }

  private void assertUpdate(
      StateTable table, StateModel model, Table batch, List<List<Object>> rows) {
    List<List<Object>> expected = model.update(rows);
    try (Table changes = table.update(batch)) {
      List<List<Object>> actual = device.rows(changes);
      assertThat(StateModel.specified(actual, expected)).isEqualTo(expected);
    }
    assertThat(table.rowCount()).isEqualTo(model.rowCount());
  }
}
