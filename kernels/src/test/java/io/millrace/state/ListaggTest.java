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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Strings that grow by those of further rows. */
class ListaggTest {
  private static final Schema INPUT =
      Schema.of(
          Field.of("k", DataType.STRING),
          Field.of("s", DataType.STRING),
          new Field("t", DataType.STRING, false));
  private static final List<Accumulator> VALUES =
      List.of(
          Accumulator.countRows("rows"),
          new Accumulator("list s", Function.LISTAGG, 1),
          new Accumulator("max s", Function.MAX, 1),
          new Accumulator("list t", Function.LISTAGG, 2),
          new Accumulator("last t", Function.LAST, 2));
  private static final StateSchema SCHEMA =
      new StateSchema(INPUT, List.of(0), VALUES, StateSchema.NO_KINDS);
  private static final StateSchema ONE =
      new StateSchema(INPUT, List.of(0), VALUES.subList(1, 2), StateSchema.NO_KINDS);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private Random random;

  @BeforeEach
  void seedRandom() {
    random = seed.random();
  }

  private String string(int most) {
    StringBuilder text = new StringBuilder();
    for (int length = random.nextInt(most + 1); length > 0; length--) {
      text.append("abc\u00e4\0\u20acz".charAt(random.nextInt(7)));
    }
    return text.toString();
  }

  private <T> T orNull(T value) {
    return random.nextInt(5) == 0 ? null : value;
  }

  private List<List<Object>> rows(int count, int keys, int most) {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String key = "key ".repeat(random.nextInt(4)) + random.nextInt(keys);
      rows.add(Arrays.asList(orNull(key), orNull(string(most)), string(most / 4)));
    }
    return rows;
  }

  @Test
  void stringsGrowInTheOrderOfTheRows() throws IOException {
    for (int round = 0; round < 20; round++) {
      int keys = 1 + random.nextInt(60);
      int most = random.nextInt(30);
      try (StateTable table = new StateTable(SCHEMA, device.stream(), device.memory())) {
        StateModel model = new StateModel(SCHEMA);
        for (int batch = 0; batch < 6; batch++) {
          model.assertUpdate(table, rows(random.nextInt(300), keys, most), device);
        }
        assertCopies(table, model, keys);
      }
    }
  }

  // A table made of blocks, and one made of the extents, go on as the table does.
  private void assertCopies(StateTable table, StateModel model, int keys) throws IOException {
    List<List<Object>> next = rows(200, keys, 40);
    List<List<Object>> expected = model.update(next);
    try (StateTable fromBlocks = new StateTable(SCHEMA, device.stream(), device.memory());
        StateTable fromExtents = new StateTable(SCHEMA, device.stream(), device.memory());
        StateSnapshot snapshot = table.snapshot()) {
      snapshot.read(device.stream(), fromBlocks::merge);
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

  // The strings of one table behind those of the other, as of slices of time.
  @Test
  void tablesAreMergedInTheirOrder() {
    for (int round = 0; round < 10; round++) {
      List<List<Object>> first = rows(200, 30, 20);
      List<List<Object>> second = rows(200, 40, 20);
      try (StateTable merged = accumulated(first, 90);
          StateTable other = accumulated(second, 200);
          StateTable expected = accumulated(first, 200)) {
        try (StateSnapshot snapshot = other.snapshot()) {
          for (int i = 0; i < snapshot.extentCount(); i++) {
            merged.merge(snapshot, i);
          }
        }
        accumulate(expected, second, 31);
        assertThat(values(merged)).isEqualTo(values(expected));
      }
    }
  }

  private StateTable accumulated(List<List<Object>> rows, int batchRows) {
    StateTable table = new StateTable(SCHEMA, device.stream(), device.memory());
    accumulate(table, rows, batchRows);
    return table;
  }

  private void accumulate(StateTable table, List<List<Object>> rows, int batchRows) {
    for (int first = 0; first < rows.size(); first += batchRows) {
      int end = Math.min(rows.size(), first + batchRows);
      try (Table batch = TableBuilder.ofRows(INPUT, rows.subList(first, end)).build(device)) {
        table.accumulate(batch);
      }
    }
  }

  @Test
  void blocksAreTheSameOnTheHost() {
    List<List<Object>> first = rows(2_000, 300, 20);
    List<List<Object>> second = rows(2_000, 300, 20);
    assertThat(words(first, second, device.stream(), device.memory()))
        .isEqualTo(words(first, second, device.hostStream(), device.hostMemory()));
  }

  private List<Long> words(
      List<List<Object>> first,
      List<List<Object>> second,
      DeviceStream stream,
      MemoryResource memory) {
    try (StateTable table = new StateTable(SCHEMA, stream, memory);
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
    for (int most : new int[] {0, 1, 30}) {
      try (StateTable table = new StateTable(SCHEMA, device.stream(), device.memory())) {
        StateModel model = new StateModel(SCHEMA);
        for (int batch = 0; batch < 3; batch++) {
          model.assertUpdate(table, rows(1_000, 1, most), device);
        }
      }
    }
  }

  @Test
  void shortStringsBecomeLongByteByByte() {
    try (StateTable table = new StateTable(ONE, device.stream(), device.memory())) {
      StateModel model = new StateModel(ONE);
      for (int i = 0; i < 40; i++) {
        String letter = String.valueOf((char) ('A' + i));
        model.assertUpdate(table, List.of(Arrays.asList("k", letter, "")), device);
      }
    }
  }

  @Test
  void stringMayBeLongerThanAChunk() throws IOException {
    String half = "0123456789abcde".repeat((int) (LongStrings.CHUNK_BYTES / 30)) + "!";
    try (StateTable table = new StateTable(ONE, device.stream(), device.memory())) {
      StateModel model = new StateModel(ONE);
      for (String text : List.of("a", half, "b", half, half)) {
        model.assertUpdate(
            table, List.of(Arrays.asList("k", text, ""), Arrays.asList("k", ";", "")), device);
      }
      try (StateSnapshot snapshot = table.snapshot();
          StateTable restored = new StateTable(ONE, device.stream(), device.memory())) {
        snapshot.read(device.stream(), restored::merge);
        assertThat(values(restored)).isEqualTo(values(table));
      }
    }
  }

  // Each batch makes the strings before it garbage.
  @Test
  void shorterStringsAreGivenUp() {
    try (StateTable table = new StateTable(ONE, device.stream(), device.memory())) {
      StateModel model = new StateModel(ONE);
      for (int batch = 0; batch < 200; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int key = 0; key < 100; key++) {
          rows.add(Arrays.asList("key " + key, "0123456789".substring(batch % 10), ""));
        }
        model.assertUpdate(table, rows, device);
      }
      // 1,100 bytes for each of 100 keys.
      try (StateSnapshot last = table.snapshot()) {
        assertThat(last.strings().valueWords() * Long.BYTES).isBetween(110_000L, 400_000L);
      }
    }
  }

  @Test
  void rowsThatExpireBeginAgain() {
    List<Accumulator> accumulators = new ArrayList<>();
    accumulators.add(Accumulator.updateTime("time"));
    accumulators.addAll(VALUES);
    StateSchema schema = new StateSchema(INPUT, List.of(0), accumulators, StateSchema.NO_KINDS);
    try (StateTable table = new StateTable(schema, device.stream(), device.memory());
        StateTable moved = new StateTable(schema, device.stream(), device.memory())) {
      StateModel model = new StateModel(schema);
      for (int batch = 0; batch < 10; batch++) {
        UpdateTime time = new UpdateTime(batch * 10L, batch * 10L - 15);
        model.assertUpdate(table, rows(30, 40, 20), time, device);
      }
      int count = (int) table.rowCount();
      LiveRows.copy(table, 0, count, 75, 90, moved);
      LiveRows.copy(table, 0, count, 90, Long.MAX_VALUE, moved);
      List<List<Object>> next = rows(50, 40, 20);
      UpdateTime time = new UpdateTime(100, 85);
      try (Table batch = TableBuilder.ofRows(INPUT, next).build(device);
          Table changes = table.update(batch, time);
          Table movedChanges = moved.update(batch, time)) {
        List<List<Object>> expected = device.rows(changes);
        assertThat(StateModel.specified(device.rows(movedChanges), expected))
            .isEqualTo(StateModel.specified(expected, expected));
      }
    }
  }
}
