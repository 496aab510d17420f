// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.firstValue;
import static io.millrace.operators.aggregate.Aggregate.lastValue;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.window.WindowHarness.Job;
import io.millrace.testing.DeviceExtension;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class SessionWindowTest {
  private static final Schema BIDS =
      Schema.of(
          new Field("bidder", DataType.INT64, false),
          Field.of("price", DataType.INT32),
          new Field("ts", DataType.timestamp(3), false));
  private static final TimeWindow SESSION = Session.over("ts", Duration.ofSeconds(10));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static Job job(Aggregate... aggregates) {
    return new Job(BIDS, List.of("bidder"), SESSION, aggregates);
  }

  private static LocalDateTime time(long millis) {
    return LocalDateTime.ofEpochSecond(
        Math.floorDiv(millis, 1_000), Math.floorMod(millis, 1_000) * 1_000_000, ZoneOffset.UTC);
  }

  private static List<Object> bid(long bidder, int price, long millis) {
    return List.of(bidder, price, time(millis));
  }

  @OutOfMemoryTest
  void sessionsFireWhenTheWatermarkReachesTheirLastMillisecond() throws Exception {
    try (WindowHarness harness = job(count().as("n"), max("price").as("m")).open(device)) {
      harness.send(0, List.of(bid(1, 10, 1_000), bid(2, 20, 9_999), bid(1, 30, 5_000)));
      harness.send(0, List.of(bid(2, 7, 19_999), bid(3, 9, 25_000)));
      assertThat(harness.results(14_998)).isEmpty();
      assertThat(harness.results(14_999)).containsExactly("[1, 2, 30] 1000..15000");
      assertThat(harness.last()).isEqualTo(new Watermark(14_999));
      assertThat(harness.results(29_997)).isEmpty();
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly("[2, 2, 20] 9999..29999", "[3, 1, 9] 25000..35000");
    }
  }

  @OutOfMemoryTest
  void aRowBetweenSessionsJoinsThem() throws Exception {
    try (WindowHarness harness = job(count().as("n"), sum("price").as("s")).open(device)) {
      harness.send(0, List.of(bid(1, 1, 0), bid(1, 2, 20_000), bid(2, 4, 0), bid(2, 8, 20_001)));
      harness.send(0, List.of(bid(1, 16, 10_000), bid(2, 32, 10_000)));
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly("[2, 2, 36] 0..20000", "[1, 3, 19] 0..30000", "[2, 1, 8] 20001..30001");
    }
  }

  // A key whose session has ended begins again, also in a slice where it has a row.
  @OutOfMemoryTest
  void aSessionBeginsBehindOneThatHasFired() throws Exception {
    try (WindowHarness harness = job(count().as("n"), sum("price").as("s")).open(device)) {
      harness.send(0, List.of(bid(1, 1, 1_000), bid(2, 2, 8_000)));
      assertThat(harness.results(10_999)).containsExactly("[1, 1, 1] 1000..11000");
      harness.send(0, List.of(bid(1, 4, 1_001)));
      assertThat(harness.results(10_999)).isEmpty();
      assertThat(harness.results(11_000)).containsExactly("[1, 1, 4] 1001..11001");
      assertThat(harness.results(Long.MAX_VALUE)).containsExactly("[2, 1, 2] 8000..18000");
    }
  }

  // The rows of the session are in six slices, and the watermark follows them.
  @OutOfMemoryTest
  void aLongSessionGoesOnFromSliceToSlice() throws Exception {
    try (WindowHarness harness =
        job(count().as("n"), firstValue("price").as("f"), lastValue("price").as("l"))
            .open(device)) {
      for (int i = 0; i < 6; i++) {
        harness.send(0, List.of(bid(1, i, 8_000L * i), bid(2 + i, i, 8_000L * i)));
        assertThat(harness.results(8_000L * i + 1))
            .isEqualTo(
                i < 2
                    ? List.of()
                    : List.of(
                        "[%d, 1, %d, %d] %d..%d"
                            .formatted(
                                i, i - 2, i - 2, 8_000 * (i - 2), 8_000 * (i - 2) + 10_000)));
      }
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactlyInAnyOrder(
              "[6, 1, 4, 4] 32000..42000", "[7, 1, 5, 5] 40000..50000", "[1, 6, 0, 5] 0..50000");
    }
  }

  @OutOfMemoryTest
  void stringsOfALongSessionAreMovedFromSliceToSlice() throws Exception {
    Schema schema =
        Schema.of(
            new Field("bidder", DataType.INT64, false),
            Field.of("name", DataType.STRING),
            new Field("ts", DataType.timestamp(3), false));
    Job job =
        new Job(
            schema,
            List.of("bidder"),
            SESSION,
            max("name").as("m"),
            min("name").as("n"),
            firstValue("name").as("f"));
    String long3 = "a name of more than 12 bytes: 3";
    String long4 = "a name of more than 12 bytes: 4";
    try (WindowHarness harness = job.open(device)) {
      for (int i = 0; i < 5; i++) {
        String name = i == 2 ? "short" : "a name of more than 12 bytes: " + i;
        harness.send(0, List.of(List.of(1L, name, time(8_000L * i))));
        harness.send(0, List.of(List.of(2L + i, long3, time(8_000L * i))));
        harness.results(8_000L * i + 1);
      }
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactlyInAnyOrder(
              "[5, %s, %s, %s] 24000..34000".formatted(long3, long3, long3),
              "[6, %s, %s, %s] 32000..42000".formatted(long3, long3, long3),
              "[1, short, %s, %s] 0..42000"
                  .formatted(long4.replace('4', '0'), long4.replace('4', '0')));
    }
  }

  @OutOfMemoryTest
  void lateRowsJoinAnOpenSessionThatTheyTouch() throws Exception {
    try (WindowHarness harness = job(count().as("n")).keepingLateRows().open(device)) {
      harness.send(0, List.of(bid(1, 1, 20_000)));
      assertThat(harness.results(24_999)).isEmpty();
      harness.send(0, List.of(bid(1, 2, 9_999), bid(2, 3, 12_000)));
      assertThat(harness.sideRows()).containsExactly(bid(1, 2, 9_999), bid(2, 3, 12_000));
      // 3,000 touches by 12,000, and 12,000 by 20,000; 15,000 is a row of a new key, late by
      // itself.
      harness.send(
          0, List.of(bid(1, 4, 3_000), bid(1, 5, 12_000), bid(2, 6, 15_000), bid(3, 7, 15_001)));
      assertThat(harness.sideRows())
          .containsExactly(bid(1, 2, 9_999), bid(2, 3, 12_000), bid(2, 6, 15_000));
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactlyInAnyOrder("[1, 3] 3000..30000", "[3, 1] 15001..25001");
    }
  }

  // In the next slice: the session of the late row has moved on.
  // Each late row touches the session only when the row behind it has joined it.
  @Test
  void aLongChainOfLateRowsJoinsASession() throws Exception {
    int rows = 5_000;
    try (WindowHarness harness = job(count().as("n")).keepingLateRows().open(device)) {
      harness.results(10_000L * rows);
      List<List<Object>> batch = new ArrayList<>();
      for (int i = 0; i <= rows; i++) {
        batch.add(bid(1, 1, 10_000L * i));
      }
      batch.add(bid(2, 1, 0));
      harness.send(0, batch);
      assertThat(harness.sideRows()).containsExactly(bid(2, 1, 0));
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly("[1, %d] 0..%d".formatted(rows + 1, 10_000L * (rows + 1)));
    }
  }

  @OutOfMemoryTest
  void lateRowsAreBehindTheOtherRowsOfTheirBatch() throws Exception {
    try (WindowHarness harness = job(count().as("n"), min("price").as("m")).open(device)) {
      assertThat(harness.results(17_000)).isEmpty();
      harness.send(0, List.of(bid(1, 1, 5_000), bid(1, 2, 11_000), bid(2, 3, 5_000)));
      assertThat(harness.lateRowsDropped()).isEqualTo(1);
      assertThat(harness.results(Long.MAX_VALUE)).containsExactly("[1, 2, 1] 5000..21000");
    }
  }

  @OutOfMemoryTest
  void keysAreStringsOfAnyLengthAndNanoseconds() throws Exception {
    Schema schema =
        Schema.of(
            Field.of("name", DataType.STRING),
            Field.of("at", DataType.timestamp(9)),
            new Field("ts", DataType.timestamp(3), false),
            Field.of("x", DataType.FLOAT64),
            Field.of("d", DataType.decimal(38, 1)));
    Job job = new Job(schema, List.of("name", "at"), SESSION, sum("x").as("x"), avg("d").as("d"));
    String name = "a name of more than 12 bytes";
    LocalDateTime at = LocalDateTime.of(2024, 6, 1, 0, 0, 0, 123_456_789);
    BigDecimal tenth = new BigDecimal("0.1");
    try (WindowHarness harness = job.open(device)) {
      for (int i = 0; i < 3; i++) {
        harness.send(
            0,
            List.of(
                Arrays.asList(name, at, time(8_000L * i), 0.5, tenth),
                Arrays.asList(null, at, time(8_000L * i), 1.5, tenth),
                Arrays.asList("short", null, time(18_000L * i), null, null),
                Arrays.asList(name + "!", at, time(8_000L * i), 2.0, tenth)));
        harness.watermark(8_000L * i);
      }
      harness.send(0, List.<List<?>>of(Arrays.asList(name, at, time(6_500), 4.0, tenth)));
      harness.watermark(Long.MAX_VALUE);
      assertThat(harness.takeResults())
          .containsExactlyInAnyOrder(
              "[short, null, null, null] 0..10000",
              "[short, null, null, null] 18000..28000",
              "[short, null, null, null] 36000..46000",
              "[" + name + ", " + at + ", 5.5, 0.100000] 0..26000",
              "[null, " + at + ", 4.5, 0.100000] 0..26000",
              "[" + name + "!, " + at + ", 6.0, 0.100000] 0..26000");
    }
  }

  // The third attempt is the last; then parts are added or emitted.
  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitIsAddedInParts() throws Exception {
    try (WindowHarness harness = job(count().as("n"), sum("price").as("s")).open(device)) {
      harness.send(
          0, List.of(bid(1, 1, 0), bid(2, 2, 11_000), bid(1, 4, 5_000), bid(2, 8, 10_000)));
      harness.send(0, List.of(bid(1, 16, 9_000), bid(3, 32, 1_000)));
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactlyInAnyOrder(
              "[1, 3, 21] 0..19000", "[3, 1, 32] 1000..11000", "[2, 2, 10] 10000..21000");
    }
  }

  @OutOfMemoryTest
  void sessionsOfInstantsAreShownInTheSessionsZone() throws Exception {
    Schema schema =
        Schema.of(
            new Field("bidder", DataType.INT64, false),
            Field.of("at", DataType.timestamp(3, true)));
    Job job =
        new Job(
            schema, List.of("bidder"), Session.over("at", Duration.ofHours(2)), count().as("n"));
    // The clock goes from 2:00 to 3:00 an hour later: the gap is a time that passes.
    Instant first = Instant.parse("2024-03-31T00:30:00Z");
    try (WindowHarness harness = job.withZone(ZoneId.of("Europe/Berlin")).open(device)) {
      harness.send(0, List.of(List.of(1L, first), List.of(1L, first.plusSeconds(7_200))));
      long end = first.plusSeconds(4 * 3_600).toEpochMilli();
      harness.watermark(end - 2);
      assertThat(harness.rows()).isEmpty();
      harness.watermark(end - 1);
      assertThat(harness.rows())
          .containsExactly(
              List.of(
                  1L,
                  2L,
                  LocalDateTime.of(2024, 3, 31, 1, 30),
                  LocalDateTime.of(2024, 3, 31, 6, 30),
                  Instant.ofEpochMilli(end - 1)));
    }
  }

  @Test
  void aRowWithoutATimeFailsTheJob() throws Exception {
    Schema schema =
        Schema.of(
            new Field("bidder", DataType.INT64, false), Field.of("ts", DataType.timestamp(3)));
    try (WindowHarness harness =
        new Job(schema, List.of("bidder"), SESSION, count()).open(device)) {
      assertThatThrownBy(() -> harness.send(0, List.of(Arrays.asList(1L, null))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected times in column 'ts', got 1 nulls");
    }
  }

  @Test
  void theColumnsOfTheWindowAreThoseOfFlink() {
    assertThat(job(count().as("n")).plan().outputSchema())
        .isEqualTo(
            Schema.of(
                new Field("bidder", DataType.INT64, false),
                new Field("n", DataType.INT64, false),
                new Field("window_start", DataType.timestamp(3), false),
                new Field("window_end", DataType.timestamp(3), false),
                new Field("window_time", DataType.timestamp(3), false)));
    assertThat(job(count().as("n")).plan().toString())
        .isEqualTo(
            "WindowAggregate(groupBy=[bidder], window=[SESSION(time_col=[ts], gap=[10 s])],"
                + " select=[bidder, COUNT(*) AS n, start(w$), end(w$), rowtime(w$)])");
  }
}
