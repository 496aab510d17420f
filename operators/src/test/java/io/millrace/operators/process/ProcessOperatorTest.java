// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.process.ProcessHarness.Job;
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
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NothingHeldExtension.class)
class ProcessOperatorTest {
  private static final String LONG = "a string of more than 12 bytes";
  private static final int[] PARALLELISM = {2, 3, 1, 2};
  private static final Job TOTALS = new Job(RunningTotals.ROWS, List.of("k"), new RunningTotals());

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @OutOfMemoryTest
  void eachKeyKeepsItsValues() throws Exception {
    try (ProcessHarness harness = TOTALS.open(device)) {
      assertThat(harness.results(asList("a", 1, "x"), asList(null, 5, null), asList("a", 2, LONG)))
          .containsExactly("[a, 1, x]", "[null, 5, null]", "[a, 3, " + LONG + "]");
      assertThat(harness.results(asList(LONG, 7, "y"), asList("a", 1, null), asList(null, 1, "z")))
          .containsExactly("[" + LONG + ", 7, y]", "[a, 4, null]", "[null, 6, z]");
      assertThat(harness.results(asList("a", 0, "x"), asList(LONG, 1, LONG)))
          .containsExactly("[" + LONG + ", 8, " + LONG + "]");
      assertThat(harness.results(asList("a", 5, "v"), asList("b", 0, null)))
          .containsExactly("[a, 5, v]");
      assertThat(harness.results()).isEmpty();
    }
  }

  // The third attempt is the last; then the batch is processed in parts.
  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitIsProcessedInParts() throws Exception {
    try (ProcessHarness harness = TOTALS.open(device)) {
      assertThat(
              harness.results(
                  asList("a", 1, "x"),
                  asList("b", 2, "y"),
                  asList("a", 3, LONG),
                  asList("b", 4, LONG)))
          .containsExactly(
              "[a, 1, x]", "[b, 2, y]", "[a, 4, " + LONG + "]", "[b, 6, " + LONG + "]");
    }
  }

  @OutOfMemoryTest
  void valuesAreInTheCheckpoint() throws Exception {
    OperatorSubtaskState state;
    try (ProcessHarness harness = TOTALS.open(device)) {
      harness.results(asList("a", 1, LONG), asList("b", 2, null), asList(LONG, 3, "x"));
      harness.results(asList(LONG, 0, "x"));
      state = harness.snapshot();
      harness.results(asList("a", 9, "y"));
    }
    try (ProcessHarness harness = TOTALS.restore(device, 0, 1, state)) {
      assertThat(harness.results(asList("b", 1, null), asList("a", 1, "z"), asList(LONG, 1, null)))
          .containsExactly("[b, 3, null]", "[a, 2, z]", "[" + LONG + ", 1, null]");
    }
  }

  @OutOfMemoryTest
  void valuesExpire() throws Exception {
    Job job =
        new Job(
            RunningTotals.ROWS,
            List.of("k"),
            new RunningTotals(),
            StateTtl.ofProcessingTime(Duration.ofMillis(100)));
    try (ProcessHarness harness = job.open(device)) {
      harness.setProcessingTime(1_000);
      harness.results(asList("a", 1, "x"), asList("b", 1, "x"));
      harness.setProcessingTime(1_099);
      assertThat(harness.results(asList("a", 1, "x"))).containsExactly("[a, 2, x]");
      harness.setProcessingTime(1_100);
      assertThat(harness.results(asList("b", 1, "x"), asList("a", 1, "x")))
          .containsExactly("[b, 1, x]", "[a, 3, x]");
    }
  }

  @OutOfMemoryTest
  void valuesExpireByTheWatermark() throws Exception {
    Job job =
        new Job(
            RunningTotals.ROWS,
            List.of("k"),
            new RunningTotals(),
            StateTtl.ofEventTime(Duration.ofMillis(100)));
    try (ProcessHarness harness = job.open(device)) {
      harness.results(asList("a", 1, "x"), asList("b", 1, "x"));
      harness.watermark(1_000);
      harness.setProcessingTime(1_000_000);
      assertThat(harness.results(asList("a", 1, "x"))).containsExactly("[a, 2, x]");
      harness.watermark(1_099);
      assertThat(harness.results(asList("a", 1, "x"))).containsExactly("[a, 3, x]");
      harness.watermark(1_100);
      assertThat(harness.results(asList("b", 1, "x"), asList("a", 1, "x")))
          .containsExactly("[b, 1, x]", "[a, 4, x]");
    }
  }

  @Test
  void eachSubtaskHasItsKeysAfterRescaling() throws Exception {
    RunningTotals.Model model = new RunningTotals.Model();
    OperatorSubtaskState state = null;
    int before = 0;
    for (int parallelism : PARALLELISM) {
      try (ProcessSubtasks subtasks =
          ProcessSubtasks.restore(TOTALS, device, parallelism, before, state)) {
        for (int batch = 0; batch < 5; batch++) {
          List<List<Object>> rows = randomRows(100);
          assertThat(subtasks.results(rows))
              .containsExactlyInAnyOrderElementsOf(
                  rows.stream().map(model::process).filter(Objects::nonNull).toList());
        }
        state = subtasks.snapshot();
        before = parallelism;
      }
    }
  }

  private List<List<Object>> randomRows(int count) {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int key = random.random().nextInt(30);
      rows.add(
          asList(
              key == 0 ? null : key % 2 == 0 ? "k" + key : LONG + key,
              random.random().nextInt(4),
              random.random().nextInt(3) == 0
                  ? null
                  : LONG.substring(random.random().nextInt(30))));
    }
    return rows;
  }

  private static Stream<DataType> types() {
    return Stream.of(
        DataType.BOOL,
        DataType.INT8,
        DataType.INT16,
        DataType.INT32,
        DataType.INT64,
        DataType.FLOAT32,
        DataType.FLOAT64,
        DataType.decimal(5, 2),
        DataType.decimal(18, 2),
        DataType.decimal(38, 10),
        DataType.DATE,
        DataType.timestamp(3),
        DataType.timestamp(9),
        DataType.STRING,
        DataType.BINARY);
  }

  // Of batches with distinct keys, on the device alone.
  private record PreviousValues(DataType type) implements KeyedBatchFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema outputSchema(Schema input) {
      return Schema.of(Field.of("k", DataType.INT32), Field.of("v", type));
    }

    @Override
    public Schema stateSchema(Schema input) {
      return Schema.of(Field.of("v", type));
    }

    @Override
    public KeyedResult process(KeyedBatch batch) {
      List<Column> output =
          List.of(batch.keys().column("k").share(), batch.state().column("v").share());
      Schema schema = outputSchema(batch.rows().schema());
      return new KeyedResult(
          new Table(schema, output, batch.keys().rowCount()), batch.rows().select(List.of("v")));
    }
  }

  @ParameterizedTest
  @MethodSource("types")
  void valuesOfEachTypeAreKept(DataType type) throws Exception {
    Schema schema = Schema.of(Field.of("k", DataType.INT32), Field.of("v", type));
    RandomTables tables = new RandomTables(random.random(), 0.2);
    Map<Object, Object> last = new HashMap<>();
    try (ProcessHarness harness =
        new Job(schema, List.of("k"), new PreviousValues(type)).open(device)) {
      for (int batch = 0; batch < 5; batch++) {
        Map<Object, List<Object>> rows = new HashMap<>();
        for (List<Object> row : tables.rows(schema, 40)) {
          int key = random.random().nextInt(50);
          rows.put(key, asList(key, row.get(1)));
        }
        List<List<Object>> sent = List.copyOf(rows.values());
        harness.send(0, sent);
        assertThat(harness.takeRows())
            .isEqualTo(sent.stream().map(row -> asList(row.get(0), last.get(row.get(0)))).toList());
        sent.forEach(row -> last.put(row.get(0), row.get(1)));
      }
    }
  }

  @Test
  void watermarksAreForwarded() throws Exception {
    try (ProcessHarness harness = TOTALS.open(device)) {
      harness.watermark(7);
      assertThat(harness.last()).isEqualTo(new Watermark(7));
    }
  }

  /** Gives tables that a test makes wrong. */
  private record WrongResult(boolean isOutput) implements KeyedBatchFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema outputSchema(Schema input) {
      return Schema.of(Field.of("x", DataType.INT32));
    }

    @Override
    public Schema stateSchema(Schema input) {
      return input.select(List.of("s"));
    }

    @Override
    public KeyedResult process(KeyedBatch batch) {
      return isOutput
          ? new KeyedResult(batch.rows().share(), null)
          : new KeyedResult(null, batch.rows().select(List.of("s")));
    }
  }

  @Test
  void resultsOfAnotherFormFailTheJob() throws Exception {
    try (ProcessHarness harness =
        new Job(RunningTotals.ROWS, List.of("k"), new WrongResult(true)).open(device)) {
      assertThatThrownBy(() -> harness.results(asList("a", 1, "x")))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("expected output with the columns ");
    }
    try (ProcessHarness harness =
        new Job(RunningTotals.ROWS, List.of("k"), new WrongResult(false)).open(device)) {
      assertThatThrownBy(() -> harness.results(asList("a", 1, "x"), asList("a", 1, "x")))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("expected a row of state for each of the 1 keys, got 2 rows");
    }
  }

  /** Appends a value to the second column of the result alone. */
  private static final class UnequalColumns extends HostKeyedFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema outputSchema(Schema input) {
      return Schema.of(Field.of("x", DataType.INT32), Field.of("y", DataType.INT32));
    }

    @Override
    public Schema stateSchema(Schema input) {
      return Schema.of();
    }

    @Override
    protected void process(HostKeyedBatch batch) {
      batch.output().column(1).appendNull();
    }

    @Override
    public String toString() {
      return "UnequalColumns";
    }
  }

  @Test
  void columnsThatGetDifferentNumbersOfValuesFailTheJob() throws Exception {
    try (ProcessHarness harness =
        new Job(RunningTotals.ROWS, List.of("k"), new UnequalColumns()).open(device)) {
      assertThatThrownBy(() -> harness.results(asList("a", 1, "x")))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage(
              "expected 1 values in column 'x' of output, as in another column, got 0 from"
                  + " UnequalColumns");
    }
  }

  private record State(Field field) implements KeyedBatchFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema outputSchema(Schema input) {
      return input;
    }

    @Override
    public Schema stateSchema(Schema input) {
      return Schema.of(field);
    }

    @Override
    public KeyedResult process(KeyedBatch batch) {
      throw new AssertionError();
    }
  }

  @Test
  void stateThatCannotBeKeptIsRefused() {
    assertRefused(
        new Field("x", DataType.INT32, false),
        "expected a nullable state column, got 'x' INT NOT NULL: null says that there is no value");
    assertRefused(
        Field.of("k", DataType.INT32),
        "expected a state column with a name of its own, got 'k', which is a key column");
    assertRefused(
        Field.of("x", DataType.list(DataType.INT32)),
        "expected a type other than ARRAY, ROW and DICTIONARY for state column 'x', got ARRAY<INT>");
  }

  private static void assertRefused(Field state, String message) {
    Job job = new Job(RunningTotals.ROWS, List.of("k"), new State(state));
    assertThatThrownBy(job::plan).isInstanceOf(ExpressionException.class).hasMessage(message);
  }

  @Test
  void thePlanSaysWhatItKeeps() {
    assertThat(TOTALS.plan().toString())
        .isEqualTo("Process(function=[RunningTotals], key=[k], state=[total BIGINT, text STRING])");
  }
}
