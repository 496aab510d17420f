// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.memory.resource.StatisticsResourceAdaptor;
import io.millrace.operators.context.ContextMemory;
import io.millrace.operators.process.EntryTablesTest.Entries;
import io.millrace.operators.process.EntryTablesTest.Reads;
import io.millrace.operators.process.ProcessHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Reads whole maps in parts: for their entries, and to give rows back. */
@ExtendWith(NothingHeldExtension.class)
class EntryScanTest {
  private static final Job FINDS =
      new Job(EntryTablesTest.ROWS, List.of("k"), new Entries(Entries.MAP, Reads.ENTRIES_OF_ROWS));
  private static final Job READS_ALL =
      new Job(EntryTablesTest.ROWS, List.of("k"), new Entries(Entries.MAP, Reads.ALL_ENTRIES));
  private static final int KEYS = 100;
  private static final int ENTRIES = 2_000;
  // 8 MB of values.
  private static final String VALUE = "x".repeat(4_000);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  // Of key 1: entries from `first` to before `end`.
  private static List<List<Object>> entries(long first, long end, boolean isPut) {
    List<List<Object>> rows = new ArrayList<>();
    for (long entry = first; entry < end; entry++) {
      rows.add(asList(1, entry, isPut, isPut ? "v" + entry : null));
    }
    return rows;
  }

  // Each key has its share.
  private static List<List<Object>> largeEntries() {
    return LongStream.range(0, ENTRIES)
        .<List<Object>>mapToObj(entry -> asList((int) (entry % KEYS), entry, true, VALUE))
        .toList();
  }

  @OutOfMemoryTest(attempts = 3)
  void entriesAreReadInParts() throws Exception {
    try (ProcessHarness harness = READS_ALL.withLimits(MapCommands.SMALL).open(device)) {
      List<List<Object>> rows = entries(0, 11, true);
      rows.add(5, asList(2, 7L, true, "of another key"));
      harness.send(0, rows);
      harness.takeRows();
      assertThat(harness.results(asList(1, 3L, false, null), asList(null, 3L, false, null)))
          .containsExactlyInAnyOrderElementsOf(
              LongStream.range(0, 11).mapToObj(n -> "[0, " + n + ", v" + n + "]").toList());
    }
  }

  /** Memory in which, from {@code begin} on, large requests fail. */
  private static final class Memory implements AutoCloseable {
    final AtomicLong mostBytes = new AtomicLong(Long.MAX_VALUE);
    StatisticsResourceAdaptor statistics;

    Memory() {
      ContextMemory.wrap(
          upstream -> {
            statistics = new StatisticsResourceAdaptor(failing(upstream));
            return statistics;
          });
    }

    private MemoryResource failing(MemoryResource upstream) {
      return new FailingResourceAdaptor(upstream, (number, bytes) -> bytes > mostBytes.get());
    }

    @Override
    public void close() {
      ContextMemory.unwrap();
    }
  }

  @Test
  void partsThatAreTooLargeAreHalved() throws Exception {
    try (Memory memory = new Memory();
        ProcessHarness harness = READS_ALL.open(device)) {
      harness.send(0, largeEntries());
      memory.mostBytes.set(2 << 20);
      harness.send(0, List.of(asList(3, 0L, false, null)));
      assertThat(harness.takeRows())
          .hasSize(ENTRIES / KEYS)
          .allMatch(row -> VALUE.equals(row.get(2)));
    }
  }

  @Test
  void aPartHasFewerRowsIfTheyAreLarge() throws Exception {
    assertThat(peakBytes(new EntryScan.Limits(ENTRIES, 1 << 20, ENTRIES, 0), 3))
        .as("bytes to read the entries of a key from 8 MB")
        .isBetween(1L, 6L << 20);
  }

  @Test
  void onlyTheEntriesOfTheKeysAreHeld() throws Exception {
    assertThat(
            peakBytes(new EntryScan.Limits(ENTRIES / 50, Long.MAX_VALUE / ENTRIES, ENTRIES, 0), -1))
        .as("bytes to read the entries of a key that has none from 8 MB")
        .isBetween(1L, 2L << 20);
  }

  private long peakBytes(EntryScan.Limits limits, int key) throws Exception {
    try (Memory memory = new Memory();
        ProcessHarness harness = READS_ALL.withLimits(limits).open(device)) {
      harness.send(0, largeEntries());
      memory.statistics.pushCounters();
      harness.send(0, List.of(asList(key, 0L, false, null)));
      return memory.statistics.popCounters().peakBytes();
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void entriesThatWereRemovedGiveTheirRowsBack() throws Exception {
    int count = (int) EntryScan.Limits.DEFAULT.compactionRows();
    try (ProcessHarness harness = FINDS.open(device)) {
      harness.send(0, entries(0, count / 2 + 1, true));
      harness.send(0, entries(1, count / 2 + 1, false));
      assertThat(harness.rowsInState()).isEqualTo(count / 2 + 1);
      harness.takeRows();
      harness.send(0, entries(count / 2 + 1, count, true));
      assertThat(harness.rowsInState()).as("half of the rows have entries").isEqualTo(count / 2);
      harness.takeRows();
      assertThat(
              harness.results(
                  asList(1, 0L, true, null),
                  asList(1, 1L, true, null),
                  asList(1, count - 1L, true, null)))
          .containsExactly("[v0, true]", "[null, false]", "[v" + (count - 1) + ", true]");
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void rowsAreGivenBackInPartsAndBeforeACheckpoint() throws Exception {
    Job job = FINDS.withLimits(MapCommands.SMALL);
    OperatorSubtaskState state;
    try (ProcessHarness harness = job.open(device)) {
      harness.send(0, entries(0, 15, true));
      harness.send(0, entries(4, 15, false));
      harness.send(0, entries(15, 20, true));
      assertThat(harness.rowsInState()).isEqualTo(9);
      state = harness.snapshot();
    }
    try (ProcessHarness harness = job.restore(device, 0, 1, state)) {
      assertThat(harness.rowsInState()).isEqualTo(9);
      assertThat(
              harness.results(
                  asList(1, 3L, true, null), asList(1, 4L, true, null), asList(1, 19L, true, null)))
          .containsExactly("[v3, true]", "[null, false]", "[v19, true]");
    }
  }

  @Test
  void aPartThatDoesNotFitIsMovedInHalves() throws Exception {
    Job job = FINDS.withLimits(new EntryScan.Limits(ENTRIES, Long.MAX_VALUE / ENTRIES, ENTRIES, 0));
    try (Memory memory = new Memory();
        ProcessHarness harness = job.open(device)) {
      harness.send(0, largeEntries().subList(0, ENTRIES - 1));
      harness.send(
          0,
          largeEntries().subList(0, ENTRIES - 100).stream()
              .map(row -> asList(row.get(0), row.get(1), false, null))
              .toList());
      harness.takeRows();
      memory.mostBytes.set(4 << 20);
      harness.send(0, largeEntries().subList(ENTRIES - 1, ENTRIES));
      assertThat(harness.rowsInState()).isEqualTo(100);
    }
  }
}
