// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The rule of {@link AdaptiveBatchSize}, alone and under a step of load in simulated time. */
class AdaptiveBatchingTest {
  private static final Schema SCHEMA = Schema.of(Field.of("arrived", DataType.INT64));
  private static final int LATENCY_MILLIS = 20;
  private static final int PHASE_MILLIS = 500;
  private static final int[] ROWS_PER_MILLI = {1, 1_000, 1};
  private static final Path CSV = Path.of("target", "adaptive-batching.csv");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final List<Sent> sent = new ArrayList<>();
  private long now;

  /** A batch: the time at which it was sent, its rows, the age of its oldest row. */
  private record Sent(long millis, int rows, long latencyMillis) {
    int phase() {
      return (int) Math.min(ROWS_PER_MILLI.length - 1L, millis / PHASE_MILLIS);
    }

    String csv() {
      return millis + "," + ROWS_PER_MILLI[phase()] * 1_000 + "," + rows + "," + latencyMillis;
    }
  }

  private Sent read(StreamRecord<ColumnBatch> element) {
    ColumnBatch batch = element.getValue();
    try (Table oldest = batch.table().slice(0, 1)) {
      long arrived = (long) device.rows(oldest).get(0).get(0);
      return new Sent(now, batch.rowCount(), now - arrived);
    }
  }

  @Test
  void aLoadStepStaysWithinTheLatency() throws Exception {
    OneInputStreamOperatorTestHarness<RowData, ColumnBatch> harness =
        new OneInputStreamOperatorTestHarness<>(
            BatchingOperator.factory(
                SCHEMA,
                RowDataAppender::new,
                BatchOptions.latency(Duration.ofMillis(LATENCY_MILLIS))));
    RecordingOutput collector =
        new RecordingOutput(
            element -> {
              Sent batch = read(element);
              sent.add(batch);
              return batch;
            });
    harness.setOutputCreator(serializer -> collector);
    try {
      harness.open();
      for (int rowsPerMilli : ROWS_PER_MILLI) {
        run(harness, rowsPerMilli);
      }
      harness.endInput();
    } finally {
      harness.close();
    }
    write();
    assertThat(sent).allMatch(batch -> batch.latencyMillis() <= LATENCY_MILLIS);
    assertThat(sent.stream().mapToLong(Sent::rows).sum()).isEqualTo(PHASE_MILLIS * 1_002L);
    assertSettledRows(0, 10, 20);
    assertSettledRows(1, 15_000, 20_000);
    assertSettledRows(2, 10, 20);
  }

  private void run(
      OneInputStreamOperatorTestHarness<RowData, ColumnBatch> harness, int rowsPerMilli)
      throws Exception {
    for (int i = 0; i < PHASE_MILLIS; i++) {
      harness.setProcessingTime(now);
      StreamRecord<RowData> row = new StreamRecord<>(GenericRowData.of(now));
      for (int j = 0; j < rowsPerMilli; j++) {
        harness.processElement(row);
      }
      now++;
    }
  }

  /** From a fifth of the phase on, every batch has a number of rows in the range. */
  private void assertSettledRows(int phase, int minimum, int maximum) {
    long from = (long) phase * PHASE_MILLIS + PHASE_MILLIS / 5;
    long until = (phase + 1L) * PHASE_MILLIS;
    assertThat(sent.stream().filter(s -> s.millis() >= from && s.millis() < until))
        .as("batches from %s ms to %s ms", from, until)
        .isNotEmpty()
        .allMatch(batch -> batch.rows() >= minimum && batch.rows() <= maximum);
  }

  private void write() throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add("time_ms,arrival_rows_per_s,batch_rows,latency_ms");
    sent.forEach(batch -> lines.add(batch.csv()));
    Files.createDirectories(CSV.getParent());
    Files.write(CSV, lines);
  }

  @Test
  void theLimitDoublesAtMostAndFallsAtOnce() {
    AdaptiveBatchSize size = new AdaptiveBatchSize(1, 1 << 16, LATENCY_MILLIS);
    assertThat(size.rowLimit()).isEqualTo(1);
    for (int limit = 1; limit <= 512; limit *= 2) {
      assertThat(size.rowLimit()).isEqualTo(limit);
      size.closed(limit, 0);
    }
    size.closed(7, size.waitMillis());
    assertThat(size.rowLimit()).isEqualTo(7);
  }

  @Test
  void theLimitStaysBetweenMinimumAndMaximum() {
    AdaptiveBatchSize size = new AdaptiveBatchSize(100, 300, LATENCY_MILLIS);
    assertThat(size.rowLimit()).isEqualTo(100);
    size.closed(200, 0);
    assertThat(size.rowLimit()).isEqualTo(200);
    size.closed(200, 0);
    assertThat(size.rowLimit()).isEqualTo(300);
    size.closed(1, LATENCY_MILLIS);
    assertThat(size.rowLimit()).isEqualTo(100);
  }

  @Test
  void slowSendingShortensTheWaitToHalfTheLatencyAndIsForgotten() {
    AdaptiveBatchSize size = new AdaptiveBatchSize(1, 1 << 16, LATENCY_MILLIS);
    assertThat(size.waitMillis()).isEqualTo(19);
    size.sent(5);
    assertThat(size.waitMillis()).isEqualTo(14);
    size.sent(500);
    assertThat(size.waitMillis()).isEqualTo(10);
    for (int i = 0; i < 100; i++) {
      size.sent(0);
    }
    assertThat(size.waitMillis()).isEqualTo(19);
  }

  @Test
  void theShortestLatencyStillWaitsForATickOfTheClock() {
    assertThat(new AdaptiveBatchSize(1, 10, 1).waitMillis()).isEqualTo(1);
  }
}
