// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Smallest, largest, first and last values that take two words: strings, decimals and times. */
class WideValuesTest {
  private static final Schema INPUT =
      Schema.of(
          Field.of("k", DataType.STRING),
          Field.of("s", DataType.STRING),
          new Field("b", DataType.BINARY, false),
          Field.of("d", DataType.decimal(38, 2)),
          Field.of("t", DataType.timestamp(9, false)));
  private static final StateSchema ALL = schema(0, 0, 1, 2, 3, 4);
  private static final StateSchema STRINGS = schema(0, 1);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private Random random;

  @BeforeEach
  void seedRandom() {
    random = seed.random();
  }

  // Of the columns from the first one on, all functions of the key, and of others these in turn.
  private static StateSchema schema(int key, int... columns) {
    List<Accumulator> accumulators = new ArrayList<>();
    accumulators.add(Accumulator.countRows("rows"));
    List<Function> functions = List.of(Function.MAX, Function.MIN, Function.LAST, Function.FIRST);
    for (int column : columns) {
      int count = columns.length > 2 ? 3 : functions.size();
      for (int i = 0; i < count; i++) {
        Function function = functions.get((i + column) % functions.size());
        accumulators.add(new Accumulator(function + " " + column, function, column));
      }
    }
    return new StateSchema(INPUT, List.of(key), accumulators, StateSchema.NO_KINDS);
  }

  private String string(int most) {
    int length = random.nextInt(most + 1);
    StringBuilder text = new StringBuilder(random.nextBoolean() ? "a long common prefix" : "");
    text.setLength(Math.min(length, text.length()));
    while (text.length() < length) {
      text.append("a\u00e4\0\u20acz".charAt(random.nextInt(5)));
    }
    return text.toString();
  }

  private <T> T orNull(T value) {
    return random.nextInt(5) == 0 ? null : value;
  }

  private List<Object> row(int keys, int most) {
    BigInteger unscaled = new BigInteger(random.nextInt(120), random);
    return Arrays.asList(
        orNull("key ".repeat(random.nextInt(5)) + random.nextInt(keys)),
        orNull(string(most)),
        ByteBuffer.wrap(string(most).getBytes(StandardCharsets.UTF_8)),
        orNull(new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), 2)),
        orNull(
            LocalDateTime.of(1960, 1, 1, 0, 0)
                .plusDays(random.nextInt(3) * 10_000L)
                .plusNanos(random.nextInt(3) * 999_999L)));
  }

  private List<List<Object>> rows(int count, int keys, int most) {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(row(keys, most));
    }
    return rows;
  }

  @Test
  void randomValuesAreCombined() throws IOException {
    for (int round = 0; round < 20; round++) {
      int keys = 1 + random.nextInt(60);
      try (StateTable table = new StateTable(ALL, device.stream(), device.memory())) {
        StateModel model = new StateModel(ALL);
        for (int batch = 0; batch < 5; batch++) {
          model.assertUpdate(table, rows(random.nextInt(500), keys, 40), device);
        }
        assertCopies(table, model, keys);
      }
    }
  }

  // A table made of blocks, and one made of the extents, go on as the table does.
  private void assertCopies(StateTable table, StateModel model, int keys) throws IOException {
    List<List<Object>> next = rows(200, keys, 40);
    List<List<Object>> expected = model.update(next);
    try (StateTable fromBlocks = new StateTable(ALL, device.stream(), device.memory());
        StateTable fromExtents = new StateTable(ALL, device.stream(), device.memory());
        StateSnapshot snapshot = table.snapshot()) {
      snapshot.read(
          device.stream(),
          block -> {
            assertThat(block.hasAllStrings()).isTrue();
            fromBlocks.merge(block);
          });
      for (int i = 0; i < snapshot.extentCount(); i++) {
        fromExtents.merge(snapshot, i);
      }
      for (StateTable copy : List.of(fromBlocks, fromExtents)) {
        assertThat(values(copy)).isEqualTo(values(table));
        try (Table batch = TableBuilder.ofRows(INPUT, next).build(device);
            Table changes = copy.update(batch)) {
          assertThat(StateModel.specified(device.rows(changes), expected)).isEqualTo(expected);
        }
      }
    }
  }

  private List<List<Object>> values(StateTable table) {
    try (Table values = table.values(0, (int) table.rowCount(), List.of())) {
      return device.rows(values);
    }
  }

  @Test
  void blocksAreTheSameOnTheHost() {
    List<List<Object>> first = rows(2_000, 300, 60);
    List<List<Object>> second = rows(2_000, 300, 60);
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
  void oneKeyWithManyRows() {
    for (int round = 0; round < 10; round++) {
      try (StateTable table = new StateTable(ALL, device.stream(), device.memory())) {
        StateModel model = new StateModel(ALL);
        for (int batch = 0; batch < 3; batch++) {
          model.assertUpdate(table, rows(1_000, 1, 30), device);
        }
      }
    }
  }

  @Test
  void slicesOfABatchAreUpdates() {
    List<List<Object>> rows = rows(300, 20, 40);
    try (StateTable table = new StateTable(ALL, device.stream(), device.memory());
        Table whole = TableBuilder.ofRows(INPUT, rows).build(device)) {
      StateModel model = new StateModel(ALL);
      for (int first = 0; first < 300; first += 77) {
        int count = Math.min(77, 300 - first);
        List<List<Object>> expected = model.update(rows.subList(first, first + count));
        try (Table batch = whole.slice(first, count);
            Table changes = table.update(batch)) {
          assertThat(StateModel.specified(device.rows(changes), expected)).isEqualTo(expected);
        }
      }
    }
  }

  @Test
  void stringMayBeLongerThanAChunk() throws IOException {
    String huge = "0123456789abcdef".repeat((int) (LongStrings.CHUNK_BYTES / 16)) + "!";
    ByteBuffer none = ByteBuffer.allocate(0);
    try (StateTable table = new StateTable(STRINGS, device.stream(), device.memory())) {
      StateModel model = new StateModel(STRINGS);
      for (String text : List.of("a longer string", huge + "1", "0123456789abcdef", huge + "2")) {
        model.assertUpdate(table, List.of(Arrays.asList("k", text, none, null, null)), device);
      }
      try (StateSnapshot snapshot = table.snapshot();
          StateTable restored = new StateTable(STRINGS, device.stream(), device.memory())) {
        snapshot.read(device.stream(), restored::merge);
        assertThat(values(restored)).isEqualTo(values(table));
      }
    }
  }

  // Strings of values that were replaced do not stay for ever, and snapshots stay as they were.
  @Test
  void replacedStringsAreGivenUp() {
    try (StateTable table = new StateTable(STRINGS, device.stream(), device.memory())) {
      StateModel model = new StateModel(STRINGS);
      long most = 0;
      List<Long> before = null;
      StateSnapshot snapshot = null;
      for (int batch = 0; batch < 200; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int key = 0; key < 100; key++) {
          String text = "a string that grows " + (1_000_000 + batch) + "x".repeat(key % 50);
          rows.add(Arrays.asList("key " + key, text, ByteBuffer.allocate(0), null, null));
        }
        model.assertUpdate(table, rows, device);
        most = Math.max(most, table.reservedBytes());
        if (batch == 50) {
          snapshot = table.snapshot();
          before = SnapshotWords.of(snapshot, device);
        }
      }
      assertThat(SnapshotWords.of(snapshot, device)).isEqualTo(before);
      snapshot.close();
      try (StateSnapshot last = table.snapshot()) {
        assertThat(last.strings().valueWords() * Long.BYTES).isBetween(1L, 300_000L);
      }
      assertThat(most).isLessThan(2_000_000);
    }
  }

  private static StateSchema withTime(StateSchema schema) {
    List<Accumulator> accumulators = new ArrayList<>();
    accumulators.add(Accumulator.updateTime("time"));
    accumulators.addAll(schema.accumulators());
    return new StateSchema(INPUT, schema.keys(), accumulators, StateSchema.NO_KINDS);
  }

  // More strings than the first chunk of a table has room for, several of each row.
  @Test
  void movedRowsBringAllTheirStrings() throws IOException {
    StateSchema schema = withTime(STRINGS);
    List<List<Object>> rows = new ArrayList<>();
    for (int key = 0; key < 5_000; key++) {
      String text = String.format("a string of 31 bytes or %7d", key);
      rows.add(Arrays.asList("k" + key, text, ByteBuffer.allocate(0), null, null));
    }
    try (StateTable table = new StateTable(schema, device.stream(), device.memory());
        StateTable moved = new StateTable(schema, device.stream(), device.memory());
        Table batch = TableBuilder.ofRows(INPUT, rows).build(device)) {
      table.update(batch, new UpdateTime(1, 0)).close();
      int count = (int) table.rowCount();
      for (int first = 0; first < count; first += table.chunkRows()) {
        int looked = Math.min(table.chunkRows(), count - first);
        LiveRows.copy(table, first, looked, 0, Long.MAX_VALUE, moved);
      }
      assertThat(values(moved)).isEqualTo(values(table));
      try (StateSnapshot snapshot = moved.snapshot();
          StateSnapshot expected = table.snapshot()) {
        assertThat(SnapshotWords.of(snapshot, device))
            .isEqualTo(SnapshotWords.of(expected, device));
      }
    }
  }

  @Test
  void rowsThatExpireBeginAgain() {
    StateSchema schema = withTime(STRINGS);
    try (StateTable table = new StateTable(schema, device.stream(), device.memory());
        StateTable moved = new StateTable(schema, device.stream(), device.memory())) {
      StateModel model = new StateModel(schema);
      for (int batch = 0; batch < 10; batch++) {
        UpdateTime time = new UpdateTime(batch * 10L, batch * 10L - 15);
        model.assertUpdate(table, rows(30, 40, 40), time, device);
      }
      int count = (int) table.rowCount();
      LiveRows.copy(table, 0, count, 75, 90, moved);
      LiveRows.copy(table, 0, count, 90, Long.MAX_VALUE, moved);
      List<List<Object>> next = rows(50, 40, 40);
      UpdateTime time = new UpdateTime(100, 85);
      List<List<Object>> expected = new ArrayList<>();
      try (Table batch = TableBuilder.ofRows(INPUT, next).build(device);
          Table changes = table.update(batch, time);
          Table movedChanges = moved.update(batch, time)) {
        expected.addAll(device.rows(changes));
        assertThat(StateModel.specified(device.rows(movedChanges), expected))
            .isEqualTo(StateModel.specified(expected, expected));
      }
    }
  }
}
