// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In simulated time. */
class SendPaceTest {
  private static final int BATCHES = 200;
  private static final int SETTLED = 100;

  private long now;
  private final SendTime time = new SendTime(() -> now);
  private final SendPace pace = new SendPace(time);
  private final Deque<Integer> inFlight = new ArrayDeque<>();

  private void send(int rows, double millisOfRow) {
    pace.send(rows, () -> now += (long) (rows * millisOfRow));
  }

  /** As with a GPU: a batch leaves when {@code batchesInFlight} more were given to the operator. */
  private void sendLater(int rows, double millisOfRow, int batchesInFlight) {
    inFlight.add(rows);
    pace.send(
        rows,
        () -> {
          if (inFlight.size() > batchesInFlight) {
            now += (long) (inFlight.remove() * millisOfRow);
          }
        });
  }

  @ParameterizedTest
  @CsvSource({"1, 65536", "0.1, 65536", "10, 65536", "1, 1000000", "0.01, 65536"})
  void theBatchesOfASlowConsumerTakeNoLongerThanTheTarget(double millisOfRow, int maxRows) {
    int rows = 1;
    for (int i = 0; i < BATCHES; i++) {
      int sent = Math.min(rows, pace.rowLimit());
      send(sent, millisOfRow);
      if (i >= SETTLED) {
        assertThat(sent * millisOfRow).isBetween(80.0, 110.0);
      }
      rows = Math.min(maxRows, 2 * rows);
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 2", "1, 4", "0.01, 2", "10, 2"})
  void theBatchesThatLeaveLaterSettleToo(double millisOfRow, int batchesInFlight) {
    List<Double> settled = new ArrayList<>();
    for (int i = 0; i < BATCHES; i++) {
      int sent = Math.min(65_536, pace.rowLimit());
      sendLater(sent, millisOfRow, batchesInFlight);
      if (i >= SETTLED) {
        settled.add(sent * millisOfRow);
      }
    }
    assertThat(settled).allMatch(millis -> millis > 50 && millis < 150);
  }

  @Test
  void theAverageIsThatOfTheLastBatches() {
    assertThat(pace.averageMillis()).isZero();
    for (int i = 0; i < BATCHES; i++) {
      send(10, 3);
    }
    assertThat(pace.averageMillis()).isBetween(29L, 30L);
    for (int i = 0; i < BATCHES; i++) {
      send(10, 0.01);
    }
    assertThat(pace.averageMillis()).isZero();
  }

  @Test
  void theFirstBatchesDoubleUntilAFastConsumerIsNotLimited() {
    int limit = SendPace.FIRST_ROWS;
    for (int i = 0; i < 10; i++) {
      assertThat(pace.rowLimit()).isEqualTo(limit);
      send(limit, 0.001);
      limit *= 2;
    }
    for (int i = 0; i < BATCHES; i++) {
      send(65_536, 0.001);
      assertThat(pace.rowLimit()).isGreaterThanOrEqualTo(65_536);
    }
  }

  @Test
  void aLimitDoublesWhileSendingIsFastAndBatchesAreNotMuchSmaller() {
    send(10, 0);
    assertThat(pace.rowLimit()).isEqualTo(128);
    send(64, 0);
    assertThat(pace.rowLimit()).isEqualTo(256);
    send(30_000, 0);
    assertThat(pace.rowLimit()).isEqualTo(60_000);
  }

  @Test
  void aSlowBatchIsForgotten() {
    send(1_000, 5);
    assertThat(pace.rowLimit()).isEqualTo(20);
    int batches = 0;
    while (pace.rowLimit() < 65_536) {
      send(pace.rowLimit(), 0);
      batches++;
    }
    assertThat(batches).isLessThan(40);
  }

  @Test
  void oneRowLeavesAtLeast() {
    for (int i = 0; i < BATCHES; i++) {
      send(Math.min(5, pace.rowLimit()), 10_000);
      assertThat(pace.rowLimit()).isEqualTo(1);
    }
  }

  @Test
  void aSendWithinASendCountsOnce() {
    time.measure(
        () -> {
          now += 3;
          time.measure(() -> now += 4);
          assertThat(time.millis()).isEqualTo(7);
        });
    now += 100;
    assertThat(time.millis()).isEqualTo(7);
  }

  @Test
  void aClockThatIsSetBackCountsNothing() {
    time.measure(() -> now += 5);
    time.measure(() -> now -= 1_000);
    assertThat(time.millis()).isEqualTo(5);
  }
}
