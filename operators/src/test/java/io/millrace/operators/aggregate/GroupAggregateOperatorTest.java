// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static io.millrace.operators.aggregate.Aggregate.sum0;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OperatorHarness.Output;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class GroupAggregateOperatorTest {
  private static final byte INSERT = RowKind.INSERT.toByteValue();
  private static final byte BEFORE = RowKind.UPDATE_BEFORE.toByteValue();
  private static final byte AFTER = RowKind.UPDATE_AFTER.toByteValue();
  private static final byte DELETE = RowKind.DELETE.toByteValue();

  private static final Schema BIDS =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          Field.of("price", DataType.INT32),
          new Field("bidder", DataType.INT64, false));
  private static final List<String> KEYS = List.of("auction");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private GroupAggregateHarness open(Aggregate... aggregates) throws Exception {
    return new Job(BIDS, KEYS, aggregates).open(device);
  }

  private GroupAggregateHarness openChangelog(Aggregate... aggregates) throws Exception {
    return new Job(RowKindColumn.addTo(BIDS), KEYS, aggregates).open(device);
  }

  @OutOfMemoryTest
  void eachBatchEmitsItsChangesInTheOrderOfItsKeys() throws Exception {
    try (GroupAggregateHarness harness = open(count().as("n"), sum("bidder").as("s"))) {
      assertThat(harness.changes(List.of(7L, 1, 10L), List.of(3L, 1, 20L), List.of(7L, 1, 30L)))
          .containsExactly("+I[7, 2, 40]", "+I[3, 1, 20]");
      assertThat(
              harness.changes(
                  List.of(5L, 1, 1L), List.of(3L, 1, 2L), List.of(7L, 1, 3L), List.of(3L, 1, 4L)))
          .containsExactly(
              "+I[5, 1, 1]", "-U[3, 1, 20]", "+U[3, 3, 26]", "-U[7, 2, 40]", "+U[7, 3, 43]");
    }
  }

  // The third attempt is the last; then the batch is aggregated in parts.
  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitIsAggregatedInPartsEachOnce() throws Exception {
    try (GroupAggregateHarness harness = open(count().as("n"), sum("price").as("s"))) {
      harness.send(
          1,
          List.of(
              List.of(1L, 1, 0L), List.of(2L, 2, 0L), List.of(1L, 4, 0L), asList(2L, null, 0L)));
      harness.send(2, List.of(List.of(2L, 8, 0L), List.of(1L, 16, 0L)));
      List<String> changes = harness.takeChanges();
      assertThat(last(changes, 1)).isEqualTo("+U[1, 3, 21]");
      assertThat(last(changes, 2)).isEqualTo("+U[2, 3, 10]");
      assertThat(changes.stream().filter(change -> change.startsWith("+I")).count()).isEqualTo(2);
      assertUpdatesChain(changes);
    }
  }

  private static String last(List<String> changes, long key) {
    return changes.stream()
        .filter(change -> change.contains("[" + key + ","))
        .reduce((first, second) -> second)
        .orElseThrow();
  }

  /** Each -U is the last row of its key and stands directly before its +U. */
  private static void assertUpdatesChain(List<String> changes) {
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < changes.size(); i++) {
      String row = changes.get(i).substring(2);
      switch (changes.get(i).substring(0, 2)) {
        case "+I" -> rows.add(row);
        case "-U" -> {
          assertThat(rows.remove(row)).as("row %s is current", row).isTrue();
          assertThat(changes.get(i + 1)).startsWith("+U");
        }
        case "+U" -> {
          assertThat(changes.get(i - 1)).startsWith("-U");
          rows.add(row);
        }
        default -> assertThat(rows.remove(row)).as("row %s is current", row).isTrue();
      }
    }
  }

  @Test
  void aBatchThatChangesNothingEmitsNothing() throws Exception {
    try (GroupAggregateHarness harness = open(max("bidder").as("m"), count("price").as("n"))) {
      assertThat(harness.changes(List.of(1L, 1, 50L))).containsExactly("+I[1, 50, 1]");
      assertThat(harness.changes(asList(1L, null, 50L), asList(1L, null, 20L))).isEmpty();
      assertThat(harness.changes()).isEmpty();
    }
  }

  @Test
  void withoutKeysAllRowsAreAggregatedTogether() throws Exception {
    Job job = new Job(BIDS, List.of(), count().as("n"), sum0(col("price")).as("s"));
    try (GroupAggregateHarness harness = job.open(device)) {
      assertThat(harness.changes(asList(1L, null, 0L), asList(2L, null, 0L)))
          .containsExactly("+I[2, 0]");
      assertThat(harness.changes(List.of(1L, 5, 0L))).containsExactly("-U[2, 0]", "+U[3, 5]");
    }
  }

  @Test
  void updatesMayHaveOnlyTheRowAfterThem() throws Exception {
    Job job = new Job(BIDS, List.of("auction"), count().as("n")).withoutUpdateBefore();
    try (GroupAggregateHarness harness = job.open(device)) {
      assertThat(harness.changes(List.of(1L, 5, 0L))).containsExactly("+I[1, 1]");
      assertThat(harness.changes(List.of(1L, 5, 0L), List.of(2L, 5, 0L)))
          .containsExactly("+U[1, 2]", "+I[2, 1]");
    }
  }

  @Test
  void anUpdateIsEmittedIfOnlyTheCountBehindAnAverageChanges() throws Exception {
    try (GroupAggregateHarness harness = open(avg("bidder").as("a"))) {
      assertThat(harness.changes(List.of(1L, 1, 5L))).containsExactly("+I[1, 5]");
      assertThat(harness.changes(List.of(1L, 1, 5L))).containsExactly("-U[1, 5]", "+U[1, 5]");
    }
  }

  @OutOfMemoryTest
  void aKeyIsDeletedWithItsLastRowAndComesBack() throws Exception {
    try (GroupAggregateHarness harness = openChangelog(sum("price").as("s"))) {
      assertThat(harness.changes(List.of(1L, 10, 0L, INSERT), List.of(2L, 5, 0L, INSERT)))
          .containsExactly("+I[1, 10]", "+I[2, 5]");
      assertThat(harness.changes(List.of(1L, 10, 0L, BEFORE), List.of(1L, 11, 0L, AFTER)))
          .containsExactly("-U[1, 10]", "+U[1, 11]");
      assertThat(harness.changes(List.of(1L, 11, 0L, DELETE))).containsExactly("-D[1, 11]");
      assertThat(harness.changes(asList(1L, null, 0L, INSERT))).containsExactly("+I[1, null]");
      assertThat(harness.changes(asList(1L, null, 0L, DELETE), List.of(3L, 1, 0L, INSERT)))
          .containsExactly("-D[1, null]", "+I[3, 1]");
      assertThat(harness.changes(List.of(4L, 1, 0L, INSERT), List.of(4L, 1, 0L, DELETE))).isEmpty();
      assertThat(harness.changes(List.of(4L, 9, 0L, INSERT))).containsExactly("+I[4, 9]");
    }
  }

  @Test
  void anAverageOfNoRowsIsNotComputed() throws Exception {
    try (GroupAggregateHarness harness = openChangelog(avg("bidder").as("a"))) {
      assertThat(harness.changes(List.of(1L, 1, 7L, INSERT))).containsExactly("+I[1, 7]");
      assertThat(harness.changes(List.of(1L, 1, 7L, DELETE))).containsExactly("-D[1, 7]");
    }
    try (GroupAggregateHarness harness = open(avg("bidder").as("a"))) {
      assertThat(harness.changes(List.of(1L, 1, 7L))).containsExactly("+I[1, 7]");
    }
  }

  @Test
  void nullsAreLeftOutOfAllFunctions() throws Exception {
    try (GroupAggregateHarness harness =
        open(
            count().as("rows"),
            count("price").as("n"),
            sum("price").as("s"),
            min("price").as("low"),
            max("price").as("high"),
            avg("price").as("mean"))) {
      assertThat(harness.changes(asList(1L, null, 0L)))
          .containsExactly("+I[1, 1, 0, null, null, null, null]");
      assertThat(harness.changes(asList(1L, -3, 0L), asList(1L, null, 0L)))
          .containsExactly("-U[1, 1, 0, null, null, null, null]", "+U[1, 3, 1, -3, -3, -3, -3]");
      assertThat(harness.changes(asList(1L, 8, 0L)))
          .containsExactly("-U[1, 3, 1, -3, -3, -3, -3]", "+U[1, 4, 2, 5, -3, 8, 2]");
    }
  }

  @Test
  void averagesAreTruncatedTowardsZero() throws Exception {
    try (GroupAggregateHarness harness = open(avg("price").as("a"), avg("bidder").as("b"))) {
      assertThat(harness.changes(List.of(1L, -3, -7L), List.of(1L, -4, 2L)))
          .containsExactly("+I[1, -3, -2]");
      assertThat(
              harness.changes(
                  List.of(2L, Integer.MAX_VALUE, 1L), List.of(2L, Integer.MAX_VALUE, 2L)))
          .containsExactly("+I[2, " + Integer.MAX_VALUE + ", 1]");
    }
  }

  @Test
  void sumsWrapInTheTypeOfTheirArgument() throws Exception {
    Schema schema =
        Schema.of(
            new Field("k", DataType.INT32, false),
            new Field("b", DataType.INT8, false),
            Field.of("s", DataType.INT16),
            Field.of("i", DataType.INT32),
            new Field("l", DataType.INT64, false));
    List<Object> row =
        List.of(1, Byte.MAX_VALUE, Short.MIN_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE);
    try (GroupAggregateHarness harness =
        new Job(schema, List.of("k"), sum("b"), sum("s"), sum("i"), sum("l")).open(device)) {
      assertThat(harness.changes(row, row)).containsExactly("+I[1, -2, 0, -2, -2]");
    }
  }

  @Test
  void filtersCountRowsForWhichTheConditionIsTrue() throws Exception {
    try (GroupAggregateHarness harness =
        open(
            count().filter(col("price").gt(5)).as("n"),
            max("bidder").filter(col("price").gt(5)).as("m"),
            avg("bidder").filter(col("price").isNull()).as("a"))) {
      assertThat(harness.changes(asList(1L, null, 4L), List.of(1L, 5, 9L)))
          .containsExactly("+I[1, 0, null, 4]");
      assertThat(harness.changes(List.of(1L, 6, 3L)))
          .containsExactly("-U[1, 0, null, 4]", "+U[1, 1, 3, 4]");
    }
  }

  @Test
  void aggregatesShareAccumulators() throws Exception {
    Job job =
        new Job(
            BIDS,
            KEYS,
            count().as("n"),
            sum("price").as("s"),
            avg("price").as("a"),
            count("price").as("p"),
            count("bidder").as("b"),
            avg("bidder").as("ab"));
    try (GroupAggregatePlan.Steps steps = job.plan().steps()) {
      assertThat(steps.state().accumulators()).hasSize(4);
    }
    try (GroupAggregateHarness harness = job.open(device)) {
      assertThat(harness.changes(List.of(1L, 10, 3L), asList(1L, null, 5L), List.of(1L, 5, 1L)))
          .containsExactly("+I[1, 3, 15, 7, 2, 3, 3]");
    }
  }

  @Test
  void timestampsWatermarksAndCountsPass() throws Exception {
    GroupAggregateHarness harness = open(count().as("n"));
    try (harness) {
      harness.send(41, List.of(List.of(1L, 1, 1L), List.of(2L, 1, 1L)));
      harness.watermark(40);
      harness.send(43, List.of(List.of(1L, 1, 1L)));
      assertThat(harness.batches()).extracting(Output::timestamp).containsExactly(41L, 43L);
      assertThat(harness.elements()).hasSize(3).element(1).isEqualTo(new Watermark(40));
    }
    assertThat(harness.recordsOut()).as("behind the end").isEqualTo(4);
  }

  @Test
  void manyKeysOfOneBatchKeepTheirOrder() throws Exception {
    List<List<?>> rows = new ArrayList<>();
    List<String> inserted = new ArrayList<>();
    List<String> updated = new ArrayList<>();
    for (long key = 0; key < 3000; key++) {
      rows.add(List.of(key * 7919 % 3001, 1, key));
      inserted.add("+I[" + key * 7919 % 3001 + ", 1, " + key + "]");
      updated.add("-U[" + key * 7919 % 3001 + ", 1, " + key + "]");
      updated.add("+U[" + key * 7919 % 3001 + ", 2, " + key + "]");
    }
    try (GroupAggregateHarness harness = open(count().as("n"), max("bidder").as("m"))) {
      harness.send(0, rows);
      assertThat(harness.takeChanges()).isEqualTo(inserted);
      harness.send(0, rows);
      assertThat(harness.takeChanges()).isEqualTo(updated);
    }
  }

  @Test
  void allNaNsAreOneKeyAndZerosAreTwo() throws Exception {
    Schema schema = Schema.of(Field.of("d", DataType.FLOAT64), Field.of("f", DataType.FLOAT32));
    double otherNaN = Double.longBitsToDouble(0xfff8000000000123L);
    float otherFloatNaN = Float.intBitsToFloat(0x7fc00123);
    try (GroupAggregateHarness harness =
        new Job(schema, List.of("d", "f"), count().as("n")).open(device)) {
      assertThat(
              harness.changes(
                  List.of(0.0, 0.0f),
                  List.of(-0.0, 0.0f),
                  List.of(Double.NaN, Float.NaN),
                  List.of(otherNaN, otherFloatNaN),
                  asList(null, 0.0f),
                  asList(null, -0.0f)))
          .containsExactly(
              "+I[0.0, 0.0, 1]",
              "+I[-0.0, 0.0, 1]",
              "+I[NaN, NaN, 2]",
              "+I[null, 0.0, 1]",
              "+I[null, -0.0, 1]");
      assertThat(harness.changes(List.of(otherNaN, Float.NaN), asList(null, -0.0f)))
          .containsExactly(
              "-U[NaN, NaN, 2]", "+U[NaN, NaN, 3]", "-U[null, -0.0, 1]", "+U[null, -0.0, 2]");
    }
  }

  @Test
  void extremesOfFloatingPointNumbersHaveTheOrderOfDoubleCompare() throws Exception {
    Schema schema =
        Schema.of(new Field("k", DataType.INT32, false), Field.of("x", DataType.FLOAT64));
    try (GroupAggregateHarness harness =
        new Job(schema, List.of("k"), min("x").as("low"), max("x").as("high")).open(device)) {
      assertThat(harness.changes(List.of(1, -0.0), List.of(1, 0.0)))
          .containsExactly("+I[1, -0.0, 0.0]");
      assertThat(harness.changes(List.of(1, Double.NaN), asList(1, null)))
          .containsExactly("-U[1, -0.0, 0.0]", "+U[1, -0.0, NaN]");
      assertThat(harness.changes(List.of(2, Double.NaN))).containsExactly("+I[2, NaN, NaN]");
    }
  }
}
