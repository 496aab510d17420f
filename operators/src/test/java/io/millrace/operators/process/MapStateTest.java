// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static io.millrace.operators.process.MapCommands.CLEAR;
import static io.millrace.operators.process.MapCommands.CLEAR_AT;
import static io.millrace.operators.process.MapCommands.ENTRIES;
import static io.millrace.operators.process.MapCommands.GET;
import static io.millrace.operators.process.MapCommands.PUT;
import static io.millrace.operators.process.MapCommands.REMOVE;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.process.ProcessHarness.Job;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Maps, entry by entry and as tables, compared with those of Java. */
@ExtendWith(NothingHeldExtension.class)
class MapStateTest {
  private static final String LONG = "a string of more than 12 bytes";
  private static final int[] PARALLELISM = {2, 3, 1, 2};
  private static final Job JOB = new Job(MapCommands.ROWS, List.of("k"), new MapCommands(0, true));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private static List<Object> row(String key, String command, String s, int n, String v) {
    return asList(key, command, s, n, v);
  }

  private static List<Object> row(String key, String command) {
    return row(key, command, null, 0, null);
  }

  @OutOfMemoryTest(attempts = 1)
  void eachKeyHasItsEntries() throws Exception {
    try (ProcessHarness harness = JOB.open(device)) {
      harness.results(row("a", PUT, "x", 1, LONG), row(null, PUT, LONG, 1, null));
      assertThat(
              harness.results(
                  row("a", GET, "x", 1, null),
                  row("a", GET, "x", 2, null),
                  row(null, GET, LONG, 1, null),
                  row("b", GET, "x", 1, null),
                  row("a", PUT, null, 7, "v"),
                  row("a", GET, null, 7, null)))
          .containsExactly(
              "[a, get +I[x, 1] +I[" + LONG + ", 1]]",
              "[a, get +I[x, 2] null]",
              "[null, get +I[" + LONG + ", 1] +I[null, 1]]",
              "[b, get +I[x, 1] null]",
              "[a, get +I[null, 7] +I[v, 4]]");
      assertThat(harness.results(row("a", REMOVE, "x", 1, null), row("a", ENTRIES)))
          .containsExactly("[a, entries [+I[null, 7]=+I[v, 4]]]");
      assertThat(harness.results(row("a", ENTRIES), row("a", CLEAR), row(null, ENTRIES)))
          .containsExactly(
              "[a, entries [+I[null, 7]=+I[v, 4]]]",
              "[null, entries [+I[" + LONG + ", 1]=+I[null, 1]]]");
      assertThat(harness.results(row("a", ENTRIES), row("a", GET, null, 7, null)))
          .containsExactly("[a, entries []]", "[a, get +I[null, 7] null]");
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void changesBehindAClearStay() throws Exception {
    try (ProcessHarness harness = JOB.open(device)) {
      harness.results(row("a", PUT, "x", 1, "v"), row("a", PUT, "y", 1, "v"));
      assertThat(
              harness.results(
                  row("a", GET, "x", 1, null),
                  row("a", PUT, "z", 1, "dropped"),
                  row("a", CLEAR),
                  row("a", GET, "x", 1, null),
                  row("a", ENTRIES),
                  row("a", PUT, "y", 1, "w"),
                  row("a", ENTRIES)))
          .containsExactly(
              "[a, get +I[x, 1] +I[v, 1]]",
              "[a, get +I[x, 1] null]",
              "[a, entries []]",
              "[a, entries [+I[y, 1]=+I[w, 8]]]");
      assertThat(harness.rowsInState()).as("z was not in the state").isEqualTo(1 + 2);
      assertThat(harness.results(row("a", ENTRIES), row("a", CLEAR), row("a", PUT, "x", 1, "u")))
          .containsExactly("[a, entries [+I[y, 1]=+I[w, 8]]]");
      assertThat(harness.results(row("a", ENTRIES)))
          .containsExactly("[a, entries [+I[x, 1]=+I[u, 12]]]");
    }
  }

  /** The commands of {@link MapCommands}; notes how many entries each read of whole maps gives. */
  private record CountedReads(MapCommands commands) implements KeyedBatchFunction {
    private static final long serialVersionUID = 1L;
    static final List<Integer> ENTRIES_READ = new ArrayList<>();

    @Override
    public Schema outputSchema(Schema input) {
      return commands.outputSchema(input);
    }

    @Override
    public Schema stateSchema(Schema input) {
      return commands.stateSchema(input);
    }

    @Override
    public List<MapStateSchema> mapStates(Schema input) {
      return commands.mapStates(input);
    }

    @Override
    public void open(Schema input, DeviceContext device, RuntimeContext runtime) throws Exception {
      commands.open(input, device, runtime);
    }

    @Override
    public KeyedResult process(KeyedBatch batch) throws Exception {
      return commands.process(
          new KeyedBatch(
              batch.rows(),
              batch.keyNumbers(),
              batch.keys(),
              batch.state(),
              new Reader(batch.entries()),
              batch.watermark(),
              batch.processingTime(),
              batch.device()));
    }

    @Override
    public void close() throws Exception {
      commands.close();
    }

    private record Reader(EntryReader reader) implements EntryReader {
      @Override
      public Table find(String map, Table requests) {
        return reader.find(map, requests);
      }

      @Override
      public Table entries(String map, Table requests) {
        Table entries = reader.entries(map, requests);
        ENTRIES_READ.add(entries.rowCount());
        return entries;
      }

      @Override
      public Table elements(String list, Table requests) {
        return reader.elements(list, requests);
      }
    }
  }

  @Test
  void wholeMapsAreReadOnceForTheKeysThatNeedIt() throws Exception {
    Job job = new Job(MapCommands.ROWS, List.of("k"), new CountedReads(new MapCommands(0, true)));
    try (ProcessHarness harness = job.open(device)) {
      for (int n = 0; n < 10; n++) {
        harness.results(
            row("a", PUT, "x", n, "v"), row("b", PUT, "x", n, "v"), row("c", PUT, "x", n, "v"));
      }
      harness.results(row("d", PUT, "x", 0, "v"), row("e", PUT, "x", 0, "v"));
      CountedReads.ENTRIES_READ.clear();
      harness.results(
          row("a", GET, "x", 0, null),
          row("d", CLEAR),
          row("e", CLEAR),
          row("b", ENTRIES),
          row("c", ENTRIES),
          row("b", CLEAR));
      assertThat(CountedReads.ENTRIES_READ).containsExactly(20, 2);
      assertThat(harness.results(row("d", ENTRIES), row("b", ENTRIES), row("e", ENTRIES)))
          .containsExactly("[d, entries []]", "[b, entries []]", "[e, entries []]");
    }
  }

  // The third attempt is the last; then the batch is processed in parts.
  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitIsProcessedInParts() throws Exception {
    try (ProcessHarness harness = JOB.open(device)) {
      harness.results(row("a", PUT, "x", 1, LONG), row("b", PUT, "x", 1, "y"));
      assertThat(
              harness.results(
                  row("a", GET, "x", 1, null),
                  row("b", REMOVE, "x", 1, null),
                  row("a", PUT, "y", 1, null),
                  row("b", GET, "x", 1, null),
                  row("a", ENTRIES)))
          .containsExactly(
              "[a, get +I[x, 1] +I[" + LONG + ", 1]]",
              "[b, get +I[x, 1] null]",
              "[a, entries [+I[x, 1]=+I[" + LONG + ", 1], +I[y, 1]=+I[null, 3]]]");
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void entriesAreInTheCheckpoint() throws Exception {
    OperatorSubtaskState state;
    try (ProcessHarness harness = JOB.open(device)) {
      harness.results(row("a", PUT, "x", 1, LONG), row("b", PUT, LONG, 2, "y"));
      harness.results(row("b", REMOVE, LONG, 2, null), row("b", PUT, "z", 3, null));
      state = harness.snapshot();
      harness.results(row("a", CLEAR));
    }
    try (ProcessHarness harness = JOB.restore(device, 0, 1, state)) {
      assertThat(harness.results(row("b", ENTRIES), row("a", GET, "x", 1, null)))
          .containsExactly(
              "[b, entries [+I[z, 3]=+I[null, 3]]]", "[a, get +I[x, 1] +I[" + LONG + ", 1]]");
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void eachEntryExpires() throws Exception {
    Job job =
        new Job(
            MapCommands.ROWS,
            List.of("k"),
            new MapCommands(0, true),
            StateTtl.ofProcessingTime(Duration.ofMillis(100)));
    try (ProcessHarness harness = job.open(device)) {
      harness.setProcessingTime(1_000);
      harness.results(row("a", PUT, "x", 1, "v"), row("a", PUT, "y", 1, "v"));
      harness.setProcessingTime(1_050);
      harness.results(row("a", PUT, "y", 1, "w"));
      harness.setProcessingTime(1_099);
      assertThat(harness.results(row("a", GET, "x", 1, null)))
          .containsExactly("[a, get +I[x, 1] +I[v, 1]]");
      harness.setProcessingTime(1_100);
      assertThat(
              harness.results(
                  row("a", GET, "x", 1, null), row("a", GET, "y", 1, null), row("a", ENTRIES)))
          .containsExactly(
              "[a, get +I[x, 1] null]",
              "[a, get +I[y, 1] +I[w, 3]]",
              "[a, entries [+I[y, 1]=+I[w, 3]]]");
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void aRestoredEntryKeepsItsTime() throws Exception {
    Job job =
        new Job(
            MapCommands.ROWS,
            List.of("k"),
            new MapCommands(0, true),
            StateTtl.ofProcessingTime(Duration.ofMillis(100)));
    OperatorSubtaskState state;
    try (ProcessHarness harness = job.open(device)) {
      harness.setProcessingTime(1_000);
      harness.results(row("a", PUT, "x", 1, LONG), row("a", PUT, "y", 1, "v"));
      harness.setProcessingTime(1_050);
      harness.results(row("a", PUT, "y", 1, "w"), row("b", PUT, "x", 1, "v"));
      state = harness.snapshot();
    }
    for (int parallelism = 1; parallelism <= 2; parallelism++) {
      try (ProcessSubtasks subtasks = ProcessSubtasks.restore(job, device, parallelism, 1, state)) {
        subtasks.setProcessingTime(1_060);
        assertThat(subtasks.results(List.of(row("a", GET, "x", 1, null))))
            .containsExactly(List.of("a", "get +I[x, 1] +I[" + LONG + ", 1]"));
        subtasks.setProcessingTime(1_100);
        assertThat(subtasks.results(List.of(row("a", ENTRIES), row("b", ENTRIES))))
            .containsExactlyInAnyOrder(
                List.of("a", "entries [+I[y, 1]=+I[w, 3]]"),
                List.of("b", "entries [+I[x, 1]=+I[v, 1]]"));
        subtasks.setProcessingTime(1_150);
        assertThat(subtasks.results(List.of(row("a", GET, "y", 1, null), row("b", ENTRIES))))
            .containsExactlyInAnyOrder(
                List.of("a", "get +I[y, 1] null"), List.of("b", "entries []"));
      }
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void mapsWithoutValuesAreSets() throws Exception {
    Job job = new Job(MapCommands.ROWS, List.of("k"), new MapCommands(0, true).withoutValues());
    OperatorSubtaskState state;
    try (ProcessHarness harness = job.open(device)) {
      harness.results(row("a", PUT, "x", 1, null), row("a", PUT, LONG, 2, null));
      assertThat(
              harness.results(
                  row("a", GET, "x", 1, null), row("a", GET, "x", 2, null), row("a", ENTRIES)))
          .containsExactly(
              "[a, get +I[x, 1] +I[]]",
              "[a, get +I[x, 2] null]",
              "[a, entries [+I[" + LONG + ", 2]=+I[], +I[x, 1]=+I[]]]");
      harness.results(row("a", REMOVE, "x", 1, null));
      state = harness.snapshot();
    }
    try (ProcessHarness harness = job.restore(device, 0, 1, state)) {
      assertThat(harness.results(row("a", GET, "x", 1, null), row("a", ENTRIES), row("a", CLEAR)))
          .containsExactly("[a, get +I[x, 1] null]", "[a, entries [+I[" + LONG + ", 2]=+I[]]]");
      assertThat(harness.results(row("a", ENTRIES))).containsExactly("[a, entries []]");
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void timersReadAndClearMaps() throws Exception {
    Job job = new Job(MapCommands.ROWS, List.of("k"), new MapCommands(8, false));
    OperatorSubtaskState state;
    try (ProcessHarness harness = job.open(device)) {
      harness.results(
          row("a", PUT, "x", 1, "v"),
          row("b", PUT, "x", 1, "v"),
          row("a", CLEAR_AT, null, 5, null),
          row("b", CLEAR_AT, null, 20, null));
      harness.watermark(5);
      assertThat(harness.takeTexts()).containsExactly("[a, cleared [+I[x, 1]=+I[v, 1]]]");
      state = harness.snapshot();
    }
    try (ProcessHarness harness = job.restore(device, 0, 1, state)) {
      assertThat(harness.results(row("a", ENTRIES))).containsExactly("[a, entries []]");
      harness.watermark(20);
      assertThat(harness.takeTexts()).containsExactly("[b, cleared [+I[x, 1]=+I[v, 1]]]");
    }
  }

  @ParameterizedTest
  @CsvSource({"true, true", "false, true", "true, false"})
  void randomCommandsAfterRescaling(boolean isRequested, boolean hasValues) throws Exception {
    MapCommands maps = new MapCommands(0, isRequested);
    MapCommands commands = hasValues ? maps : maps.withoutValues();
    Job job = new Job(MapCommands.ROWS, List.of("k"), commands).withLimits(MapCommands.SMALL);
    MapCommands.Model model = new MapCommands.Model(hasValues);
    OperatorSubtaskState state = null;
    int before = 0;
    for (int parallelism : PARALLELISM) {
      try (ProcessSubtasks subtasks =
          ProcessSubtasks.restore(job, device, parallelism, before, state)) {
        for (int batch = 0; batch < 5; batch++) {
          List<List<Object>> rows = randomRows(60);
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
    Random random = seed.random();
    String[] commands = {PUT, PUT, PUT, PUT, REMOVE, GET, GET, GET, ENTRIES, CLEAR};
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int key = random.nextInt(12);
      int s = random.nextInt(4);
      rows.add(
          row(
              key == 0 ? null : key % 2 == 0 ? "k" + key : LONG + key,
              commands[random.nextInt(commands.length)],
              s == 0 ? null : s == 1 ? LONG : "s" + s,
              random.nextInt(4),
              random.nextInt(4) == 0 ? null : LONG.substring(random.nextInt(30))));
    }
    return rows;
  }
}
