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
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NothingHeldExtension.class)
class DeduplicateOperatorTest {
  private static final Schema ROWS =
      Schema.of(Field.of("s", DataType.STRING), Field.of("k", DataType.INT64));
  private static final String LONG = "a string of more than 12 bytes";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Job job(Deduplication deduplication) {
    return new Job(ROWS, List.of("k"), deduplication);
  }

  @OutOfMemoryTest
  void theFirstRowOfEachKeyIsKeptInTheOrderOfTheRows() throws Exception {
    try (DeduplicateHarness harness = job(keepFirst()).open(device)) {
      assertThat(harness.results(asList("a", 2L), asList("b", 1L), asList(LONG, 2L)))
          .containsExactly("[a, 2]", "[b, 1]");
      assertThat(
              harness.results(
                  asList("c", 1L), asList(null, 3L), asList("d", 3L), asList("e", null)))
          .containsExactly("[null, 3]", "[e, null]");
      assertThat(harness.results(asList("f", null), asList("g", 2L))).isEmpty();
      assertThat(harness.results()).isEmpty();
    }
  }

  @OutOfMemoryTest
  void theLastRowOfEachKeyReplacesTheRowBefore() throws Exception {
    try (DeduplicateHarness harness = job(keepLast()).open(device)) {
      assertThat(harness.results(asList("a", 2L), asList("b", 1L), asList(LONG, 2L)))
          .containsExactly("+I[" + LONG + ", 2]", "+I[b, 1]");
      assertThat(harness.results(asList("c", 1L), asList(null, 3L), asList("d", 1L)))
          .containsExactly("+U[d, 1]", "+I[null, 3]");
      assertThat(harness.results(asList("d", 1L))).containsExactly("+U[d, 1]");
      assertThat(harness.results()).isEmpty();
    }
  }

  // The third attempt is the last; then the batch is processed in parts.
  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitIsProcessedInParts() throws Exception {
    try (DeduplicateHarness first = job(keepFirst()).open(device);
        DeduplicateHarness last = job(keepLast()).open(device)) {
      List<List<Object>> rows =
          List.of(asList("a", 1L), asList("b", 2L), asList("c", 1L), asList("d", 2L));
      first.send(0, rows);
      assertThat(first.takeTexts()).containsExactly("[a, 1]", "[b, 2]");
      last.send(0, rows);
      last.send(0, List.of(asList("e", 1L), asList("f", 1L)));
      assertThat(last.takeTexts())
          .contains("+U[f, 1]")
          .containsAnyOf("+I[d, 2]", "+U[d, 2]")
          .filteredOn(text -> text.startsWith("+I"))
          .hasSize(2);
    }
  }

  @Test
  void watermarksAreForwarded() throws Exception {
    try (DeduplicateHarness harness = job(keepFirst()).open(device)) {
      harness.results(asList("a", 1L));
      harness.watermark(7);
      assertThat(harness.last()).isEqualTo(new Watermark(7));
    }
  }

  private static Stream<DataType> payloads() {
    return Stream.of(
        DataType.BOOL,
        DataType.INT8,
        DataType.FLOAT64,
        DataType.decimal(38, 10),
        DataType.timestamp(9),
        DataType.STRING,
        DataType.BINARY,
        DataType.list(DataType.STRING),
        DataType.struct(
            Field.of("a", DataType.list(DataType.INT32)), Field.of("b", DataType.STRING)));
  }

  @ParameterizedTest
  @MethodSource("payloads")
  void payloadsOfEachTypeAreKept(DataType type) throws Exception {
    Schema schema =
        Schema.of(
            Field.of("p", type),
            Field.of("k", DataType.STRING),
            new Field("q", type, false),
            new Field("n", DataType.INT32, false));
    RandomTables tables = new RandomTables(random.random(), 0.2);
    Set<Object> firstKeys = new HashSet<>();
    Map<Object, List<Object>> lastRows = new HashMap<>();
    Map<Object, List<Object>> replaced = new HashMap<>();
    try (DeduplicateHarness first = new Job(schema, List.of("k"), keepFirst()).open(device);
        DeduplicateHarness last = new Job(schema, List.of("k"), keepLast()).open(device)) {
      for (int batch = 0; batch < 4; batch++) {
        List<List<Object>> rows = rows(tables.rows(schema, 50));
        first.send(0, rows);
        assertThat(first.takeRows())
            .isEqualTo(rows.stream().filter(row -> firstKeys.add(row.get(1))).toList());
        last.send(0, rows);
        Set<Object> before = new HashSet<>(lastRows.keySet());
        rows.forEach(row -> lastRows.put(row.get(1), row));
        for (List<Object> change : last.takeRows()) {
          List<Object> row = change.subList(0, schema.size());
          RowKind kind = RowKind.fromByteValue((Byte) change.get(schema.size()));
          assertThat(kind)
              .isEqualTo(before.contains(row.get(1)) ? RowKind.UPDATE_AFTER : RowKind.INSERT);
          replaced.put(row.get(1), row);
        }
        assertThat(replaced).isEqualTo(lastRows);
      }
    }
  }

  // With few keys, some of which come again.
  private List<List<Object>> rows(List<List<Object>> rows) {
    List<List<Object>> result = new ArrayList<>();
    for (List<Object> row : rows) {
      List<Object> changed = new ArrayList<>(row);
      int key = random.random().nextInt(30);
      changed.set(1, key == 0 ? null : key % 2 == 0 ? "k" + key : LONG + key);
      result.add(changed);
    }
    return result;
  }

  @Test
  void severalKeyColumnsMakeOneKey() throws Exception {
    Schema schema =
        Schema.of(
            Field.of("a", DataType.INT32),
            Field.of("v", DataType.INT32),
            Field.of("b", DataType.STRING));
    try (DeduplicateHarness harness =
        new Job(schema, List.of("b", "a"), keepFirst()).open(device)) {
      assertThat(
              harness.results(
                  asList(1, 1, "x"),
                  asList(1, 2, "y"),
                  asList(1, 3, "x"),
                  asList(null, 4, "x"),
                  asList(null, 5, "x"),
                  asList(1, 6, null)))
          .containsExactly("[1, 1, x]", "[1, 2, y]", "[null, 4, x]", "[1, 6, null]");
    }
  }

  @Test
  void theDeviceFindsKeptRows() {
    for (Deduplication deduplication : List.of(keepFirst(), keepLast())) {
      try (DeduplicatePlan.Steps steps = job(deduplication).plan().steps()) {
        assertThat(steps.keptRows().hostReasons()).isEmpty();
      }
    }
  }

  @Test
  void whatCannotBeDeduplicatedIsRefused() {
    Schema lists = Schema.of(Field.of("words", DataType.list(DataType.STRING)));
    assertThatThrownBy(
            () -> new DeduplicatePlan(lists, List.of("words"), keepFirst(), StateTtl.NONE))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("'words'");
    assertThatThrownBy(
            () ->
                new DeduplicatePlan(
                    RowKindColumn.addTo(ROWS), List.of("k"), keepLast(), StateTtl.NONE))
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "de-duplication of a changelog is not supported: expected a stream of insertions");
  }
}
