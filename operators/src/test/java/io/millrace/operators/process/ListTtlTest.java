// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static io.millrace.operators.process.ListCommands.ADD;
import static io.millrace.operators.process.ListCommands.CLEAR;
import static io.millrace.operators.process.ListCommands.GET;
import static io.millrace.operators.process.ListCommands.REPLACE;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.operators.process.ProcessHarness.Job;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lists whose elements expire, compared with those of Java. */
@ExtendWith(NothingHeldExtension.class)
class ListTtlTest {
  private static final int TTL = 100;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private static Job job(TimeDomain domain) {
    StateTtl stateTtl = new StateTtl(Duration.ofMillis(TTL), domain);
    return new Job(ListCommands.ROWS, List.of("k"), new ListCommands(true), stateTtl);
  }

  private static List<Object> row(long key, String command, String v) {
    return asList(key, command, v, null);
  }

  private static List<Object> add(long key, String v) {
    return row(key, ADD, v);
  }

  private static List<Object> get(long key) {
    return row(key, GET, null);
  }

  @OutOfMemoryTest(attempts = 1)
  void eachElementHasATimeOfItsOwn() throws Exception {
    try (ProcessHarness harness = job(TimeDomain.PROCESSING_TIME).open(device)) {
      harness.setProcessingTime(1_000);
      harness.results(add(1, "a"), add(1, "b"), add(2, "x"));
      harness.setProcessingTime(1_100);
      assertThat(harness.results(add(1, "c"), get(1), get(2)))
          .containsExactly("[1, [+I[c, null]]]", "[2, []]");
    }
  }

  @Test
  void elementsOfACheckpointExpire() throws Exception {
    Job job = job(TimeDomain.PROCESSING_TIME);
    OperatorSubtaskState state;
    try (ProcessHarness harness = job.open(device)) {
      harness.setProcessingTime(1_000);
      harness.results(add(1, "a"), add(2, "x"));
      harness.setProcessingTime(1_050);
      harness.results(add(1, "b"), row(2, REPLACE, "y"));
      state = harness.snapshot();
    }
    try (ProcessHarness harness = job.restore(device, 0, 1, state)) {
      // The machine's clock is behind that of the checkpoint.
      harness.setProcessingTime(900);
      harness.results(add(1, "c"));
      harness.setProcessingTime(1_100);
      assertThat(harness.results(get(1), get(2)))
          .containsExactly("[1, [+I[b, null], +I[c, null]]]", "[2, [+I[y, null], +I[second, 2]]]");
      harness.setProcessingTime(1_150);
      assertThat(harness.results(get(1), get(2))).containsExactly("[1, []]", "[2, []]");
    }
    Job forever = new Job(ListCommands.ROWS, List.of("k"), new ListCommands(true));
    try (ProcessHarness harness = forever.restore(device, 0, 1, state)) {
      assertThat(harness.results(add(2, "z"), get(1), get(2)))
          .containsExactly(
              "[1, [+I[a, null], +I[b, null]]]", "[2, [+I[y, null], +I[second, 2], +I[z, null]]]");
      OperatorSubtaskState without = harness.snapshot();
      assertThatThrownBy(() -> job.restore(device, 0, 1, without).close())
          .hasMessageContaining("$LAST($first)");
    }
  }

  @Test
  void aListThatIsNeverEmptyDoesNotGrow() throws Exception {
    try (ProcessHarness harness = job(TimeDomain.PROCESSING_TIME).open(device)) {
      for (int time = 0; time < 2_000; time += 10) {
        harness.setProcessingTime(time);
        harness.results(add(1, "v" + time));
      }
      assertThat(harness.rowsInState()).isLessThan(60);
      assertThat(harness.results(get(1)).get(0))
          .startsWith("[1, [+I[v1900, null], +I[v1910, null],")
          .endsWith(" +I[v1990, null]]]");
      List<Object> places = harness.valuesInState("elements$length").get(0);
      int end = (Integer) places.get(2);
      int first = (Integer) places.get(4);
      assertThat(end).isEqualTo(200);
      assertThat(end - first)
          .as("the elements that are looked up, of which 10 live")
          .isBetween(10, 12);
    }
  }

  /** An element, and when it was added. */
  private record Element(Row row, long time) {}

  private Map<Object, List<Element>> lists = new HashMap<>();

  /** Positions of elements begin anywhere, also where they pass the largest number. */
  @ParameterizedTest
  @CsvSource({"PROCESSING_TIME, 0", "EVENT_TIME, 0", "PROCESSING_TIME, 2147483640"})
  void elementsAreThoseThatLive(TimeDomain domain, int firstPosition) throws Exception {
    Job job = job(domain).withLimits(new EntryScan.Limits(1 << 18, 64L << 20, 4, firstPosition));
    Random random = seed.random();
    OperatorSubtaskState state = null;
    int before = 0;
    long machine = 1_000;
    long now = machine;
    int live = 0;
    for (int parallelism : new int[] {2, 3, 1, 2}) {
      // A restored machine's clock may be behind.
      machine -= random.nextInt(60);
      try (ProcessSubtasks subtasks =
          ProcessSubtasks.restore(job, device, parallelism, before, state)) {
        for (int batch = 0; batch < 40; batch++) {
          machine += random.nextInt(30);
          now = Math.max(now, machine);
          if (domain == TimeDomain.EVENT_TIME) {
            subtasks.watermark(now);
          } else {
            subtasks.setProcessingTime(machine);
          }
          List<List<Object>> rows = randomRows(random);
          List<List<Object>> expected = new ArrayList<>();
          for (List<Object> row : rows) {
            process(row, now, expected);
          }
          assertThat(subtasks.results(rows))
              .as("batch %d at %d with seed %d", batch, now, seed.seed())
              .containsExactlyInAnyOrderElementsOf(expected);
          live += expected.size();
        }
        state = subtasks.snapshot();
        before = parallelism;
      }
    }
    assertThat(live).isPositive();
  }

  private static List<List<Object>> randomRows(Random random) {
    String[] commands = {ADD, ADD, ADD, ADD, ADD, ADD, GET, GET, GET, REPLACE, CLEAR};
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 1 + random.nextInt(12); i > 0; i--) {
      String command = commands[random.nextInt(random.nextInt(3) == 0 ? commands.length : 9)];
      rows.add(row(random.nextLong(5), command, "x".repeat(random.nextInt(20))));
    }
    return rows;
  }

  private void process(List<Object> row, long now, List<List<Object>> expected) {
    List<Element> list = lists.computeIfAbsent(row.get(0), absent -> new ArrayList<>());
    list.removeIf(element -> element.time + TTL <= now);
    Element element = new Element(Row.of(row.get(2), row.get(3)), now);
    switch ((String) row.get(1)) {
      case ADD -> list.add(element);
      case REPLACE -> {
        list.clear();
        list.add(element);
        list.add(new Element(Row.of("second", 2), now));
      }
      case CLEAR -> list.clear();
      default ->
          expected.add(asList(row.get(0), list.stream().map(Element::row).toList().toString()));
    }
  }
}
