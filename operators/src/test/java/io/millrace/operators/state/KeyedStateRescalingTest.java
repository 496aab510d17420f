// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.aggregate.GroupAggregateSubtasks;
import io.millrace.operators.aggregate.GroupAggregateSubtasks.Snapshot;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Keyed state that is restored by another number of subtasks. */
@ExtendWith(NothingHeldExtension.class)
class KeyedStateRescalingTest {
  private static final Schema NUMBERS =
      Schema.of(new Field("key", DataType.INT64, false), new Field("value", DataType.INT64, false));
  private static final long KEYS = 500;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  // DataStream jobs and SQL jobs have different hashes of keys.
  private static Stream<Arguments> checkpoints() {
    return Stream.of(HashFunction.FLINK_JAVA, HashFunction.FLINK_BINARY_ROW)
        .flatMap(hash -> Stream.of(arguments(false, hash), arguments(true, hash)));
  }

  private static List<List<Object>> numbers(long from, long to) {
    List<List<Object>> rows = new ArrayList<>();
    for (long number = from; number < to; number++) {
      rows.add(List.of(number * 7919 % KEYS - KEYS / 2, number));
    }
    return rows;
  }

  @ParameterizedTest
  @MethodSource("checkpoints")
  void eachSubtaskHasTheSumsOfItsKeys(boolean isIncremental, HashFunction keyHash)
      throws Exception {
    Job job =
        new Job(NUMBERS, List.of("key"), sum("value"), count())
            .withKeyHash(keyHash)
            .withOptions(
                Map.of("execution.checkpointing.incremental", String.valueOf(isIncremental)));
    Map<List<Object>, List<Object>> expected = new HashMap<>();
    for (List<Object> row : numbers(0, 4000)) {
      expected.merge(
          row.subList(0, 1),
          List.of(row.get(1), 1L),
          (left, right) ->
              List.of(
                  (long) left.get(0) + (long) right.get(0),
                  (long) left.get(1) + (long) right.get(1)));
    }
    Snapshot snapshot;
    try (GroupAggregateSubtasks subtasks = GroupAggregateSubtasks.open(device, job, 2)) {
      subtasks.send(numbers(0, 700));
      subtasks.send(numbers(700, 1000));
      snapshot = subtasks.snapshot();
    }
    long from = 1000;
    for (int parallelism : List.of(3, 1, 16, 2)) {
      try (GroupAggregateSubtasks subtasks =
          GroupAggregateSubtasks.restore(device, job, snapshot, parallelism)) {
        subtasks.send(numbers(from, from + 500));
        subtasks.snapshot();
        subtasks.send(numbers(from + 500, from + 750));
        snapshot = subtasks.snapshot();
      }
      from += 750;
    }
    assertThat(snapshot.results()).isEqualTo(expected);
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
        DataType.decimal(7, 2),
        DataType.decimal(15, 3),
        DataType.decimal(38, 10),
        DataType.DATE,
        DataType.TIME,
        DataType.timestamp(3),
        DataType.timestamp(6),
        DataType.timestamp(6, true),
        DataType.timestamp(9),
        DataType.timestamp(9, true),
        DataType.STRING,
        DataType.BINARY);
  }

  @ParameterizedTest
  @MethodSource("keyTypes")
  void keysOfEachTypeStayTheSame(DataType type) throws Exception {
    Schema schema =
        Schema.of(
            Field.of("a", type),
            new Field("v", DataType.INT64, false),
            new Field("b", type, false));
    Random numbers = random.random();
    for (List<String> keys : List.of(List.of("a"), List.of("b", "a"))) {
      HashFunction keyHash =
          keys.size() == 1 ? HashFunction.FLINK_JAVA : HashFunction.FLINK_BINARY_ROW;
      Job job = new Job(schema, keys, sum("v"), max("v"), min("v"), avg("v")).withKeyHash(keyHash);
      RandomTables tables = new RandomTables(numbers, 0.2);
      List<List<Object>> rows = tables.rows(schema, 200);
      Snapshot snapshot;
      try (GroupAggregateSubtasks subtasks = GroupAggregateSubtasks.open(device, job, 3)) {
        subtasks.send(rows);
        snapshot = subtasks.snapshot();
        assertThat(snapshot.results()).hasSize(keys(rows, schema, keys));
      }
      try (GroupAggregateSubtasks subtasks =
          GroupAggregateSubtasks.restore(device, job, snapshot, 2)) {
        subtasks.send(rows);
        assertThat(subtasks.results()).hasSize(keys(rows, schema, keys));
      }
    }
  }

  private static int keys(List<List<Object>> rows, Schema schema, List<String> keys) {
    return (int)
        rows.stream()
            .map(row -> keys.stream().map(key -> row.get(schema.indexOf(key))).toList())
            .distinct()
            .count();
  }
}
