// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import static io.millrace.operators.deduplicate.Deduplication.keepFirst;
import static io.millrace.operators.deduplicate.Deduplication.keepLast;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.deduplicate.DeduplicateHarness.Job;
import io.millrace.operators.deduplicate.Deduplication.Keep;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** De-duplication by the order of a column's values. */
@ExtendWith(NothingHeldExtension.class)
class DeduplicateByColumnTest {
  private static final Schema ROWS =
      Schema.of(
          Field.of("s", DataType.STRING),
          Field.of("k", DataType.STRING),
          new Field("t", DataType.INT64, false));
  private static final String LONG = "a string of more than 12 bytes";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Job job(Deduplication deduplication) {
    return new Job(ROWS, List.of("k"), deduplication);
  }

  @OutOfMemoryTest
  void aRowOfTheSameTimeOrALaterOneReplacesTheLastRow() throws Exception {
    try (DeduplicateHarness harness = job(keepLast().by("t")).open(device)) {
      assertThat(
              harness.results(
                  asList("a", "x", 5L),
                  asList("b", "x", Long.MIN_VALUE),
                  asList(LONG, LONG, Long.MIN_VALUE),
                  asList("d", null, 7L),
                  asList("e", null, 7L)))
          .containsExactlyInAnyOrder(
              "+I[a, x, 5]",
              "+I[" + LONG + ", " + LONG + ", -9223372036854775808]",
              "+I[e, null, 7]");
      assertThat(
              harness.results(asList("f", "x", 4L), asList("g", null, 8L), asList("h", null, 7L)))
          .containsExactly("+U[g, null, 8]");
      assertThat(harness.results(asList("i", "x", 5L), asList(null, "x", 5L)))
          .containsExactly("+U[null, x, 5]");
      assertThat(harness.results(asList("j", "x", 4L))).isEmpty();
      assertThat(harness.results()).isEmpty();
    }
  }

  @OutOfMemoryTest
  void anEarlierRowReplacesTheFirstRow() throws Exception {
    try (DeduplicateHarness harness = job(keepFirst().by("t")).open(device)) {
      assertThat(
              harness.results(
                  asList("a", "x", 5L),
                  asList("b", "x", Long.MAX_VALUE),
                  asList("c", "x", 5L),
                  asList("d", LONG, Long.MAX_VALUE)))
          .containsExactlyInAnyOrder("+I[a, x, 5]", "+I[d, " + LONG + ", 9223372036854775807]");
      assertThat(harness.results(asList("e", "x", 5L), asList("f", "x", 6L))).isEmpty();
      assertThat(harness.results(asList("g", "x", 4L), asList("h", "x", 3L), asList("i", "x", 3L)))
          .containsExactly("+U[h, x, 3]");
    }
  }

  @OutOfMemoryTest
  void aFirstRowStaysBeforeRowsOfTheSameTimeWhereKeysAreForgotten() throws Exception {
    Job job =
        new Job(
            ROWS,
            List.of("k"),
            keepFirst().by("t"),
            StateTtl.ofProcessingTime(Duration.ofMillis(100)));
    try (DeduplicateHarness harness = job.open(device)) {
      harness.setProcessingTime(1_000);
      assertThat(harness.results(asList("a", "x", 5L), asList("b", "y", 5L)))
          .containsExactly("+I[a, x, 5]", "+I[b, y, 5]");
      harness.setProcessingTime(1_099);
      assertThat(harness.results(asList("c", "x", 5L), asList("d", "x", 6L))).isEmpty();
      harness.setProcessingTime(1_198);
      assertThat(harness.results(asList("e", "x", 7L), asList("f", "y", 8L)))
          .containsExactly("+I[f, y, 8]");
      harness.setProcessingTime(1_297);
      assertThat(harness.results(asList("g", "x", 4L), asList("h", "y", 8L)))
          .containsExactly("+U[g, x, 4]");
    }
  }

  @Test
  void aLastRowIsForgottenWithoutFurtherRows() throws Exception {
    Job job =
        new Job(
            ROWS,
            List.of("k"),
            keepLast().by("t"),
            StateTtl.ofProcessingTime(Duration.ofMillis(100)));
    try (DeduplicateHarness harness = job.open(device)) {
      harness.setProcessingTime(1_000);
      assertThat(harness.results(asList("a", "x", 5L), asList("b", "y", 5L)))
          .containsExactly("+I[a, x, 5]", "+I[b, y, 5]");
      harness.setProcessingTime(1_099);
      assertThat(harness.results(asList("c", "x", 5L))).containsExactly("+U[c, x, 5]");
      harness.setProcessingTime(1_150);
      assertThat(harness.results(asList("d", "x", 4L), asList("e", "y", 1L)))
          .containsExactly("+I[e, y, 1]");
    }
  }

  // The third attempt is the last; then the batch, or its changes, are processed in parts.
  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitIsProcessedInParts() throws Exception {
    StateTtl ttl = StateTtl.ofProcessingTime(Duration.ofDays(1));
    try (DeduplicateHarness first =
            new Job(ROWS, List.of("k"), keepFirst().by("t"), ttl).open(device);
        DeduplicateHarness last = job(keepLast().by("t")).open(device)) {
      Map<Object, Object> firstRows = new HashMap<>();
      Map<Object, Object> lastRows = new HashMap<>();
      List<List<List<Object>>> batches =
          List.of(
              List.of(
                  asList("a", "x", 2L),
                  asList("b", "y", 3L),
                  asList("c", "z", 2L),
                  asList("d", "x", 2L),
                  asList("e", "x", 1L),
                  asList("f", "z", 2L)),
              List.of(
                  asList("g", "x", 1L),
                  asList("h", "y", 3L),
                  asList("i", "z", 1L),
                  asList("j", "x", 2L),
                  asList("k", "y", 3L),
                  asList("l", "w", 1L)));
      for (List<List<Object>> batch : batches) {
        first.send(0, batch);
        first.takeRows().forEach(row -> firstRows.put(row.get(1), row.get(0)));
        last.send(0, batch);
        last.takeRows().forEach(row -> lastRows.put(row.get(1), row.get(0)));
      }
      assertThat(firstRows).isEqualTo(Map.of("x", "e", "y", "b", "z", "i", "w", "l"));
      assertThat(lastRows).isEqualTo(Map.of("x", "j", "y", "k", "z", "f", "w", "l"));
    }
  }

  private static Stream<DataType> types() {
    return Stream.of(
        DataType.INT8,
        DataType.INT16,
        DataType.INT32,
        DataType.INT64,
        DataType.FLOAT32,
        DataType.FLOAT64,
        DataType.decimal(9, 2),
        DataType.decimal(18, 2),
        DataType.DATE,
        DataType.timestamp(3),
        DataType.timestamp(6));
  }

  @ParameterizedTest
  @MethodSource("types")
  void keptRowsAreThoseOfALoopOverTheRows(DataType type) throws Exception {
    Schema schema =
        Schema.of(
            new Field("t", type, false),
            Field.of("k", DataType.STRING),
            Field.of("v", DataType.list(DataType.STRING)),
            Field.of("j", DataType.INT32));
    RandomTables tables = new RandomTables(random.random(), 0.2);
    List<Object> times = tables.rows(schema, 6).stream().map(row -> row.get(0)).toList();
    for (Keep keep : Keep.values()) {
      for (StateTtl ttl : List.of(StateTtl.NONE, StateTtl.ofProcessingTime(Duration.ofDays(1)))) {
        Model model = new Model(keep);
        Job job = new Job(schema, List.of("k", "j"), new Deduplication(keep).by("t"), ttl);
        OperatorSubtaskState state = null;
        for (int run = 0; run < 2; run++) {
          try (DeduplicateHarness harness = job.restore(device, 0, 1, state)) {
            for (int batch = 0; batch < 4; batch++) {
              int size = random.random().nextInt(random.random().nextInt(100) + 1);
              List<List<Object>> rows = rows(tables.rows(schema, size), times);
              harness.send(0, rows);
              model.check(rows, harness.takeRows());
            }
            state = harness.snapshot();
          }
        }
      }
    }
  }

  private List<List<Object>> rows(List<List<Object>> rows, List<Object> times) {
    List<List<Object>> result = new ArrayList<>();
    for (List<Object> row : rows) {
      List<Object> changed = new ArrayList<>(row);
      int key = random.random().nextInt(12);
      changed.set(0, times.get(random.random().nextInt(times.size())));
      changed.set(1, key == 0 ? null : key % 2 == 0 ? "k" + key : LONG + key);
      changed.set(3, random.random().nextInt(2));
      result.add(changed);
    }
    return result;
  }

  private static final class Model {
    private final Keep keep;
    private final Map<List<Object>, List<Object>> kept = new HashMap<>();
    private final Map<List<Object>, List<Object>> emitted = new HashMap<>();

    Model(Keep keep) {
      this.keep = keep;
    }

    void check(List<List<Object>> rows, List<List<Object>> changes) {
      Map<List<Object>, List<Object>> before = new HashMap<>(kept);
      Map<List<Object>, List<Object>> replaced = new HashMap<>();
      for (List<Object> row : rows) {
        List<Object> key = List.of(String.valueOf(row.get(1)), row.get(3));
        if (replaces(row, kept.get(key))) {
          kept.put(key, row);
          replaced.put(key, row);
        }
      }
      assertThat(changes).hasSize(replaced.size());
      for (List<Object> change : changes) {
        List<Object> row = change.subList(0, 4);
        List<Object> key = List.of(String.valueOf(row.get(1)), row.get(3));
        assertThat(row).isEqualTo(replaced.get(key));
        assertThat(RowKind.fromByteValue((Byte) change.get(4)))
            .isEqualTo(before.containsKey(key) ? RowKind.UPDATE_AFTER : RowKind.INSERT);
        emitted.put(key, row);
      }
      assertThat(emitted).isEqualTo(kept);
    }

    @SuppressWarnings("unchecked")
    private boolean replaces(List<Object> row, List<Object> before) {
      if (before == null) {
        return true;
      }
      int order = ((Comparable<Object>) row.get(0)).compareTo(before.get(0));
      return keep == Keep.FIRST ? order < 0 : order >= 0;
    }
  }

  @Test
  void theDeviceFindsKeptRows() {
    for (Keep keep : Keep.values()) {
      try (DeduplicatePlan.Steps steps = job(new Deduplication(keep).by("t")).plan().steps()) {
        assertThat(steps.keptRows().hostReasons()).isEmpty();
        assertThat(steps.candidates().hostReasons()).isEmpty();
      }
    }
  }

  @Test
  void whatHasNoOrderIsRefused() {
    assertRefused("s", "expected a number of up to 18 digits, a date or a time of up to 6 digits");
    assertRefused("k", "expected a column other than the keys to order by, got 'k'");
    assertRefused("x", "there is no column 'x' to order by; the columns are s, k, t");
    Schema nullable =
        Schema.of(Field.of("k", DataType.INT32), Field.of("t", DataType.timestamp(3)));
    assertThatThrownBy(
            () -> new DeduplicatePlan(nullable, List.of("k"), keepLast().by("t"), StateTtl.NONE))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("expected a NOT NULL column to order by, got 't' ")
        .hasMessageContaining("COALESCE");
  }

  private static void assertRefused(String column, String message) {
    assertThatThrownBy(() -> job(keepFirst().by(column)).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining(message);
  }
}
