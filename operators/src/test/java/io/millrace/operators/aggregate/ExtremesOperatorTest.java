// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NothingHeldExtension.class)
class ExtremesOperatorTest {
  private static final byte INSERT = RowKind.INSERT.toByteValue();
  private static final byte BEFORE = RowKind.UPDATE_BEFORE.toByteValue();
  private static final byte AFTER = RowKind.UPDATE_AFTER.toByteValue();
  private static final byte DELETE = RowKind.DELETE.toByteValue();
  private static final Schema ROWS = rowsOf(DataType.INT64);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Schema rowsOf(DataType type) {
    return RowKindColumn.addTo(Schema.of(Field.of("k", DataType.INT32), Field.of("x", type)));
  }

  private static GroupAggregatePlan plan(Schema input, Aggregate... aggregates) {
    return new GroupAggregatePlan(
        input, List.of("k"), List.of(aggregates), ExpressionSettings.DEFAULT);
  }

  private ArgumentHarness open(Schema input, OperatorSubtaskState state, Aggregate... aggregates)
      throws Exception {
    return ArgumentHarness.open(device, plan(input, aggregates), state, 1, 2, 3);
  }

  @Test
  void aRowIsAddedForEachKeyWhoseExtremesChange() throws Exception {
    try (ArgumentHarness harness = open(ROWS, null, min("x"), max("x"))) {
      assertThat(
              harness.added(
                  asList(1, 5L, INSERT),
                  asList(1, 9L, INSERT),
                  asList(1, 7L, INSERT),
                  asList(null, null, INSERT),
                  asList(2, 3L, INSERT)))
          .containsExactly(asList(1, 5L, true, 9L), asList(2, 3L, true, 3L));
      assertThat(harness.added(asList(1, 6L, INSERT), asList(1, 7L, DELETE))).isEmpty();
      assertThat(harness.added(asList(1, 9L, BEFORE), asList(1, 4L, AFTER)))
          .containsExactly(asList(1, 4L, true, 6L));
      assertThat(harness.added(asList(1, 4L, INSERT), asList(1, 4L, DELETE))).isEmpty();
      assertThat(harness.added(asList(1, 4L, DELETE), asList(2, 3L, DELETE)))
          .containsExactly(asList(1, 5L, true, 6L), asList(2, null, false, null));
      assertThat(harness.added(asList(2, 3L, INSERT), asList(null, 1L, INSERT)))
          .containsExactly(asList(2, 3L, true, 3L), asList(null, 1L, true, 1L));
    }
  }

  /** Rows that the operator of {@code x} adds are no rows of the values of {@code y}. */
  @Test
  void addedRowsHaveNoValues() throws Exception {
    Schema input =
        RowKindColumn.addTo(
            Schema.of(
                Field.of("k", DataType.INT32),
                Field.of("x", DataType.INT64),
                Field.of("y", DataType.INT64)));
    GroupAggregatePlan plan = plan(input, min("x"), max("y"));
    List<Object> nulls = Collections.nCopies(plan.argumentSchema().size() - 3, null);
    List<List<?>> added = new ArrayList<>();
    for (int key = 0; key < 5_000; key++) {
      List<Object> row = new ArrayList<>(asList(key, INSERT, null));
      row.addAll(nulls);
      added.add(row);
    }
    try (ArgumentHarness harness = ArgumentHarness.openBehind(device, plan, 1)) {
      harness.send(0, added);
      assertThat(harness.takeRows()).isEqualTo(added);
      assertThat(harness.rowsInState()).as("rows of deleted keys").isZero();
    }
  }

  // The third attempt is the last; then the batch, and what it changed, is worked on in parts.
  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitGivesTheSameExtremes() throws Exception {
    Schema rows = rowsOf(DataType.STRING);
    String longText = "a string of more than 12 bytes";
    Map<Object, List<Object>> last = new HashMap<>();
    try (ArgumentHarness harness = open(rows, null, min("x"), max("x"))) {
      harness.send(
          0,
          List.of(
              asList(1, "b", INSERT),
              asList(1, longText, INSERT),
              asList(2, longText, INSERT),
              asList(2, longText + "!", INSERT),
              asList(1, "c", INSERT)));
      harness.takeAdded().forEach(row -> last.put(row.get(0), row));
      assertThat(last)
          .containsEntry(1, asList(1, longText, true, "c"))
          .containsEntry(2, asList(2, longText, true, longText + "!"));
      harness.send(
          0, List.of(asList(1, "c", DELETE), asList(2, longText, BEFORE), asList(2, "d", AFTER)));
      harness.takeAdded().forEach(row -> last.put(row.get(0), row));
      assertThat(last)
          .containsEntry(1, asList(1, longText, true, "b"))
          .containsEntry(2, asList(2, longText + "!", true, "d"));
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void extremesOfARestoredStateAreKnown() throws Exception {
    Schema rows = rowsOf(DataType.STRING);
    String longText = "a string of more than 12 bytes";
    OperatorSubtaskState state;
    try (ArgumentHarness harness = open(rows, null, min("x"), max("x"))) {
      harness.send(
          0, List.of(asList(1, longText, INSERT), asList(1, "b", INSERT), asList(2, "d", INSERT)));
      state = harness.snapshot();
    }
    try (ArgumentHarness harness = open(rows, state, min("x"), max("x"))) {
      assertThat(harness.added(asList(2, "dd", INSERT)))
          .containsExactly(asList(2, "d", true, "dd"));
      assertThat(harness.added(asList(1, "b", DELETE)))
          .containsExactly(asList(1, longText, true, longText));
    }
  }

  @Test
  void extremesOfDeletedKeysGoWithTheirRows() throws Exception {
    try (ArgumentHarness harness = open(ROWS, null, min("x"), max("x"))) {
      harness.send(0, rowsOfKeys(0, INSERT));
      harness.send(0, rowsOfKeys(0, DELETE));
      assertThat(harness.keysWithExtremes()).isEqualTo(3_000);
      harness.send(0, rowsOfKeys(3_000, INSERT));
      assertThat(harness.rowsInState()).as("rows behind their removal").isEqualTo(3_000);
      harness.takeAdded();
      // The first batch behind the removal has the extremes of before.
      assertThat(harness.added(asList(7, 8L, INSERT), asList(3_007, 9L, INSERT)))
          .containsExactly(asList(7, 8L, true, 8L), asList(3_007, 5L, true, 9L));
      assertThat(harness.keysWithExtremes()).isEqualTo(3_001);
    }
  }

  private static List<List<Object>> rowsOfKeys(int first, byte kind) {
    List<List<Object>> rows = new ArrayList<>();
    for (int key = first; key < first + 3_000; key++) {
      rows.add(asList(key, 5L, kind));
    }
    return rows;
  }

  /** As Flink does, so that changes may come in another order than they were made in. */
  @Test
  void aValueThatWasTakenBackTooOftenIsThereLater() throws Exception {
    try (ArgumentHarness harness = open(ROWS, null, max("x"))) {
      harness.send(0, List.of(asList(1, 9L, DELETE), asList(1, 5L, INSERT)));
      harness.send(0, List.of(asList(1, 9L, INSERT)));
      harness.send(0, List.of(asList(1, 9L, INSERT), asList(1, 9L, INSERT)));
      harness.send(0, List.of(asList(1, 9L, DELETE), asList(1, 9L, DELETE)));
      assertThat(harness.takeRows().stream().filter(row -> row.get(2) == null))
          .extracting(row -> row.get(4))
          .containsExactly(5L, 9L, 5L);
    }
  }

  /** A type, and values of it. */
  private record Values(DataType type, Function<Random, Object> value) {
    @Override
    public String toString() {
      return type.toString();
    }
  }

  static Stream<Values> types() {
    Double[] doubles = {Double.NaN, -0.0, 0.0, 1.5, -7.0, Double.POSITIVE_INFINITY};
    Float[] floats = {Float.NaN, -0.0f, 0.0f, 1.5f};
    return Stream.of(
        new Values(DataType.INT64, numbers -> (long) numbers.nextInt(12) - 6),
        new Values(DataType.INT8, numbers -> (byte) (numbers.nextInt(12) - 6)),
        new Values(DataType.BOOL, Random::nextBoolean),
        new Values(DataType.FLOAT64, numbers -> doubles[numbers.nextInt(doubles.length)]),
        new Values(DataType.FLOAT32, numbers -> floats[numbers.nextInt(floats.length)]),
        new Values(DataType.STRING, numbers -> "x".repeat(numbers.nextInt(20)) + "y"),
        new Values(
            DataType.decimal(30, 2),
            numbers ->
                new BigDecimal("12345678901234567890123")
                    .scaleByPowerOfTen(-2)
                    .multiply(BigDecimal.valueOf(numbers.nextInt(7) - 3))));
  }

  @ParameterizedTest
  @MethodSource("types")
  void extremesAreThoseOfTheRowsThatAreLeft(Values values) throws Exception {
    Random numbers = random.random();
    Schema rows = rowsOf(values.type());
    Map<Object, NavigableMap<Object, Integer>> model = new HashMap<>();
    Map<Object, List<Object>> last = new HashMap<>();
    OperatorSubtaskState state = null;
    for (int restart = 0; restart < 4; restart++) {
      try (ArgumentHarness harness = open(rows, state, min("x"), max("x"))) {
        for (int batch = 0; batch < 20; batch++) {
          harness.send(0, randomBatch(numbers, values, model));
          harness.takeAdded().forEach(row -> last.put(row.get(0), row));
          model.forEach(
              (key, counts) ->
                  assertThat(last.getOrDefault(key, asList(key, null, false, null)))
                      .as("key %s with seed %d", key, random.seed())
                      .isEqualTo(extremes(key, counts)));
        }
        state = harness.snapshot();
      }
    }
  }

  private List<List<Object>> randomBatch(
      Random numbers, Values values, Map<Object, NavigableMap<Object, Integer>> model) {
    List<List<Object>> batch = new ArrayList<>();
    for (int i = numbers.nextInt(12); i > 0; i--) {
      Object key = numbers.nextInt(6) == 0 ? null : numbers.nextInt(4);
      Object value = numbers.nextInt(8) == 0 ? null : values.value().apply(numbers);
      boolean isAdded = numbers.nextBoolean();
      if (value != null) {
        model
            .computeIfAbsent(key, absent -> new TreeMap<>())
            .merge(value, isAdded ? 1 : -1, Integer::sum);
      }
      boolean isUpdate = numbers.nextBoolean();
      batch.add(
          asList(key, value, isAdded ? isUpdate ? AFTER : INSERT : isUpdate ? BEFORE : DELETE));
    }
    return batch;
  }

  private static List<Object> extremes(Object key, NavigableMap<Object, Integer> counts) {
    List<Object> present =
        counts.entrySet().stream()
            .filter(entry -> entry.getValue() > 0)
            .<Object>map(Map.Entry::getKey)
            .toList();
    return present.isEmpty()
        ? asList(key, null, false, null)
        : asList(key, present.get(0), true, present.get(present.size() - 1));
  }

  @Test
  void whatIsNotSupportedIsRefused() {
    assertThatThrownBy(() -> new Job(ROWS, List.of("k"), max("x")).twoPhasePlan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "MAX(`x`) is not supported in two phases for a changelog: which values are left is"
                + " known behind the exchange");
  }
}
