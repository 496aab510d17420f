// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.state.StateTable;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.StateSelection;
import io.millrace.state.session.Sessions.Slice;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Passes over slices of many rows, compared with maps. */
class SessionsTest {
  private static final int KEYS = 20_000;
  private static final long GAP = 1_000;
  private static final long LAST_TIME = 600;
  private static final Schema ROWS =
      Schema.of(
          Field.of("name", DataType.STRING),
          new Field("id", DataType.INT64, false),
          new Field("ts", DataType.timestamp(3), false));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final StateSchema state =
      new StateSchema(
          ROWS,
          List.of(0, 1),
          List.of(
              new Accumulator("last", Function.MAX, 2),
              new Accumulator("first", Function.MIN, 2),
              Accumulator.countRows("n")),
          StateSchema.NO_KINDS);

  private Sessions sessions() {
    return new Sessions(SessionSchema.of(state, 2, GAP), device.stream(), device.memory());
  }

  /** The first and the last time of a session. */
  private record Times(long first, long last) {
    Times with(Times other) {
      return new Times(Math.min(first, other.first), Math.max(last, other.last));
    }
  }

  private static List<Object> row(int key, long time) {
    String name =
        switch (key % 4) {
          case 0 -> null;
          case 1 -> "a";
          case 2 -> "a name of more than twelve bytes: " + key % 7;
          default -> "twelve bytes";
        };
    return Arrays.asList(
        name, (long) key, LocalDateTime.ofInstant(Instant.ofEpochMilli(time), ZoneOffset.UTC));
  }

  private Table batch(Map<Integer, Long> rows) {
    List<List<Object>> values = new ArrayList<>();
    rows.forEach((key, time) -> values.add(row(key, time)));
    return TableBuilder.ofRows(ROWS, values).build(device);
  }

  private void accumulate(StateTable table, Map<Integer, Times> model, int from, int to) {
    Random numbers = random.random();
    Map<Integer, Long> rows = new HashMap<>();
    for (int key = 0; key < KEYS; key++) {
      if (numbers.nextInt(3) > 0) {
        long time = numbers.nextInt(from, to);
        rows.put(key, time);
        model.merge(key, new Times(time, time), Times::with);
      }
    }
    try (Table batch = batch(rows)) {
      table.accumulate(batch);
    }
  }

  private Map<Integer, Times> read(StateTable table) {
    Map<Integer, Times> sessions = new HashMap<>();
    try (Table values = table.values(0, (int) table.rowCount(), List.of())) {
      for (List<Object> row : TableRows.of(values, device)) {
        int key = ((Long) row.get(1)).intValue();
        assertThat(row.get(0)).isEqualTo(row(key, 0).get(0));
        sessions.put(key, new Times(millis(row.get(3)), millis(row.get(2))));
      }
    }
    return sessions;
  }

  private static long millis(Object time) {
    return ((LocalDateTime) time).toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  private static boolean goesOn(Times session, Times next) {
    return next != null && next.first - session.last <= GAP;
  }

  private SessionCounts add(
      Sessions sessions, StateTable target, StateTable slice, StateTable next, boolean continued) {
    return add(sessions, target, slice, next, continued, LAST_TIME);
  }

  // In two parts.
  private static SessionCounts add(
      Sessions sessions,
      StateTable target,
      StateTable slice,
      StateTable next,
      boolean continued,
      long lastTime) {
    int part = (int) slice.rowCount() / 3;
    int rest = (int) slice.rowCount() - part;
    SessionCounts first = sessions.add(target, slice, 0, part, lastTime, next, continued);
    SessionCounts second = sessions.add(target, slice, part, rest, lastTime, next, continued);
    return new SessionCounts(
        new StateSelection.Counts(
            first.selected().rows() + second.selected().rows(),
            first.selected().stringWords() + second.selected().stringWords()),
        first.others() + second.others(),
        Math.min(first.nextTime(), second.nextTime()));
  }

  @Test
  void sessionsEndOrGoOnInTheNextSlice() {
    Sessions sessions = sessions();
    Map<Integer, Times> inSlice = new HashMap<>();
    Map<Integer, Times> inNext = new HashMap<>();
    try (StateTable slice = new StateTable(state, device.stream(), device.memory());
        StateTable next = new StateTable(state, device.stream(), device.memory());
        StateTable ended = new StateTable(state, device.stream(), device.memory())) {
      accumulate(slice, inSlice, 0, 1_000);
      accumulate(slice, inSlice, 0, 1_000);
      accumulate(next, inNext, 1_000, 2_000);
      Map<Integer, Times> expectedEnded = new HashMap<>();
      Map<Integer, Times> expectedNext = new HashMap<>(inNext);
      Map<Integer, Times> expectedSlice = new HashMap<>();
      inSlice.forEach(
          (key, session) -> {
            if (session.last > LAST_TIME) {
              expectedSlice.put(key, session);
            } else if (goesOn(session, inNext.get(key))) {
              expectedNext.merge(key, session, Times::with);
            } else {
              expectedEnded.put(key, session);
            }
          });
      SessionCounts counts = add(sessions, ended, slice, next, false);
      int passed = inSlice.size() - expectedSlice.size();
      assertThat(counts.selected().rows()).isEqualTo(expectedEnded.size());
      assertThat(counts.others()).isEqualTo(passed - expectedEnded.size()).isPositive();
      assertThat(counts.nextTime())
          .isEqualTo(expectedSlice.values().stream().mapToLong(Times::last).min().orElseThrow());
      assertThat(read(ended)).isEqualTo(expectedEnded);
      assertThat(add(sessions, next, slice, next, true).selected().rows())
          .isEqualTo(counts.others());
      assertThat(read(next)).isEqualTo(expectedNext);
      sessions.clear(slice, 0, (int) slice.rowCount(), LAST_TIME);
      assertThat(add(sessions, ended, slice, null, false).selected().rows()).isZero();
      // Keys whose sessions have passed begin again.
      accumulate(slice, expectedSlice, 601, 1_000);
      accumulate(slice, expectedSlice, 601, 1_000);
      accumulate(slice, expectedSlice, 601, 1_000);
      accumulate(slice, expectedSlice, 601, 1_000);
      Map<Integer, Times> live = read(slice);
      live.values().removeIf(times -> times.last < 0);
      assertThat(live).isEqualTo(expectedSlice);
    }
  }

  private final StateSchema oneTable =
      new StateSchema(
          ROWS.with(new Field("start", DataType.timestamp(3), false)),
          List.of(0, 1, 3),
          state.accumulators(),
          StateSchema.NO_KINDS);

  /** The row of a key and a slice of one table. */
  private record Part(int key, long slice) {}

  private Map<Part, Times> accumulate(StateTable table, int slices) {
    Random numbers = random.random();
    Map<Part, Times> parts = new HashMap<>();
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) {
      int key = numbers.nextInt(KEYS / slices);
      long time = numbers.nextLong(slices * GAP);
      long slice = time - time % GAP;
      List<Object> row = new ArrayList<>(row(key, time));
      row.add(LocalDateTime.ofInstant(Instant.ofEpochMilli(slice), ZoneOffset.UTC));
      rows.add(row);
      parts.merge(new Part(key, slice), new Times(time, time), Times::with);
    }
    try (Table batch = TableBuilder.ofRows(oneTable.input(), rows).build(device)) {
      table.accumulate(batch);
    }
    return parts;
  }

  private Map<Part, Times> parts(StateTable table) {
    Map<Part, Times> parts = new HashMap<>();
    try (Table values = table.values(0, (int) table.rowCount(), List.of())) {
      for (List<Object> row : TableRows.of(values, device)) {
        int key = ((Long) row.get(1)).intValue();
        assertThat(row.get(0)).isEqualTo(row(key, 0).get(0));
        if ((Long) row.get(5) > 0) {
          parts.put(
              new Part(key, millis(row.get(2))), new Times(millis(row.get(4)), millis(row.get(3))));
        }
      }
    }
    return parts;
  }

  @Test
  void sessionsOfOneTableEndOrGoOnInALaterSlice() {
    Sessions sessions =
        new Sessions(SessionSchema.ofOneTable(oneTable, 2, GAP), device.stream(), device.memory());
    long lastTime = 7 * GAP + 300;
    try (StateTable table = new StateTable(oneTable, device.stream(), device.memory());
        StateTable ended = new StateTable(oneTable, device.stream(), device.memory())) {
      Map<Part, Times> parts = accumulate(table, 10);
      Map<Part, Times> expectedEnded = new HashMap<>();
      Map<Part, Times> expectedOpen = new HashMap<>();
      parts.forEach(
          (part, times) -> {
            if (times.last > lastTime) {
              expectedOpen.merge(part, times, Times::with);
              return;
            }
            Part end = part;
            Times last = times;
            for (Part next = next(end); goesOn(last, parts.get(next)); next = next(end)) {
              end = next;
              last = parts.get(next);
              if (last.last > lastTime) {
                break;
              }
            }
            (last.last > lastTime ? expectedOpen : expectedEnded).merge(end, times, Times::with);
          });
      int count = (int) table.rowCount();
      SessionCounts counts = add(sessions, ended, table, table, false, lastTime);
      assertThat(parts(ended)).isEqualTo(expectedEnded);
      assertThat(counts.others()).isPositive();
      assertThat(counts.nextTime())
          .isEqualTo(
              parts.values().stream()
                  .mapToLong(Times::last)
                  .filter(time -> time > lastTime)
                  .min()
                  .orElseThrow());
      assertThat(add(sessions, table, table, table, true, lastTime).selected().rows())
          .isEqualTo(counts.others());
      sessions.clear(table, 0, count, lastTime);
      assertThat(table.rowCount()).isEqualTo(count);
      assertThat(parts(table)).isEqualTo(expectedOpen);
    }
  }

  private static Part next(Part part) {
    return new Part(part.key, part.slice + GAP);
  }

  @Test
  void aSessionLongAfterARowIsNotItsSession() {
    Sessions sessions = sessions();
    long least = Long.MIN_VALUE;
    try (StateTable next = new StateTable(state, device.stream(), device.memory());
        Table inNext = batch(Map.of(1, 1_000L, 2, least + GAP, 3, least + GAP + 1));
        Table rows = batch(new TreeMap<>(Map.of(1, least, 2, least, 3, least)))) {
      next.accumulate(inNext);
      try (Column touched = sessions.touched(rows.column(2), List.of(new Slice(rows, next)))) {
        assertThat(TableRows.of(touched, device)).containsExactly(0, 1, 0);
      }
    }
  }

  @Test
  void rowsTouchSessionsOfTheirKeys() {
    Sessions sessions = sessions();
    Map<Integer, Times> inSlice = new HashMap<>();
    Map<Integer, Times> inNext = new HashMap<>();
    try (StateTable slice = new StateTable(state, device.stream(), device.memory());
        StateTable next = new StateTable(state, device.stream(), device.memory())) {
      accumulate(slice, inSlice, 300, 1_000);
      accumulate(next, inNext, 1_000, 2_000);
      Random numbers = random.random();
      Map<Integer, Long> rows = new HashMap<>();
      for (int key = 0; key < KEYS; key += 1 + numbers.nextInt(3)) {
        rows.put(key, (long) numbers.nextInt(300) - 300);
      }
      try (Table batch = batch(rows);
          Column touched =
              sessions.touched(
                  batch.column(2), List.of(new Slice(batch, slice), new Slice(batch, next)))) {
        List<Object> expected = new ArrayList<>();
        rows.forEach(
            (key, time) -> {
              boolean touchesNext = goesOn(new Times(time, time), inNext.get(key));
              boolean touches = goesOn(new Times(time, time), inSlice.get(key));
              expected.add(touches ? 1 : touchesNext ? 2 : 0);
            });
        assertThat(TableRows.of(touched, device)).isEqualTo(expected);
        assertThat(expected).contains(0, 1);
      }
    }
  }
}
