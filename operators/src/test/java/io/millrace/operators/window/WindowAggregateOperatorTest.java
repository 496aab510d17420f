// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
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
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NothingHeldExtension.class)
class WindowAggregateOperatorTest {
  private static final Schema BIDS =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          Field.of("price", DataType.INT32),
          new Field("ts", DataType.timestamp(3), false));
  private static final TimeWindow TUMBLE = Tumble.over("ts", Duration.ofSeconds(10));
  private static final TimeWindow HOP =
      Hop.over("ts", Duration.ofSeconds(10)).every(Duration.ofSeconds(5));
  private static final TimeWindow CUMULATE =
      Cumulate.over("ts", Duration.ofSeconds(15)).every(Duration.ofSeconds(5));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static Job job(TimeWindow window, Aggregate... aggregates) {
    return new Job(BIDS, List.of("auction"), window, aggregates);
  }

  private static List<Object> bid(long auction, int price, long millis) {
    return List.of(
        auction,
        price,
        LocalDateTime.ofEpochSecond(
            Math.floorDiv(millis, 1_000),
            Math.floorMod(millis, 1_000) * 1_000_000,
            ZoneOffset.UTC));
  }

  @OutOfMemoryTest
  void tumblingWindowsFireWhenTheWatermarkReachesTheirLastMillisecond() throws Exception {
    try (WindowHarness harness = job(TUMBLE, count().as("n"), max("price").as("m")).open(device)) {
      harness.send(0, List.of(bid(1, 10, 0), bid(2, 20, 9_999), bid(1, 30, 5_000)));
      harness.send(0, List.of(bid(2, 7, 10_000), bid(1, 8, 9_000), bid(3, 9, 25_000)));
      assertThat(harness.results(9_998)).isEmpty();
      assertThat(harness.results(9_999))
          .containsExactly("[1, 3, 30] 0..10000", "[2, 1, 20] 0..10000");
      assertThat(harness.last()).isEqualTo(new Watermark(9_999));
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly("[2, 1, 7] 10000..20000", "[3, 1, 9] 20000..30000");
    }
  }

  @OutOfMemoryTest
  void hoppingWindowsMergeTheirSlices() throws Exception {
    try (WindowHarness harness = job(HOP, count().as("n"), sum("price").as("s")).open(device)) {
      harness.send(0, List.of(bid(1, 1, -1), bid(1, 2, 0), bid(2, 4, 6_000), bid(1, 8, 7_000)));
      assertThat(harness.results(4_999))
          .containsExactly("[1, 1, 1] -10000..0", "[1, 2, 3] -5000..5000");
      harness.send(0, List.of(bid(3, 16, 3_000), bid(1, 32, -1)));
      assertThat(harness.lateRowsDropped()).isEqualTo(1);
      assertThat(harness.results(20_000))
          .containsExactly(
              "[1, 2, 10] 0..10000",
              "[3, 1, 16] 0..10000",
              "[2, 1, 4] 0..10000",
              "[2, 1, 4] 5000..15000",
              "[1, 1, 8] 5000..15000");
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
    Job job = new Job(schema, List.of("name", "at"), HOP, sum("x").as("x"), sum("d").as("d"));
    String name = "a name of more than 12 bytes";
    LocalDateTime at = LocalDateTime.of(2024, 6, 1, 0, 0, 0, 123_456_789);
    try (WindowHarness harness = job.open(device)) {
      for (int slice = 0; slice < 2; slice++) {
        LocalDateTime time = LocalDateTime.ofEpochSecond(5L * slice, 0, ZoneOffset.UTC);
        BigDecimal tenth = new BigDecimal("0.1");
        harness.send(
            0,
            List.of(
                Arrays.asList(name, at, time, 0.5, tenth),
                Arrays.asList(null, at, time, 1.5, tenth),
                Arrays.asList("short", null, time, null, null),
                Arrays.asList(name, at, time, 2.0, tenth)));
      }
      String first = "[" + name + ", " + at + ", 2.5, 0.2] ";
      String second = "[null, " + at + ", 1.5, 0.1] ";
      String third = "[short, null, null, null] ";
      assertThat(harness.results(4_999))
          .containsExactly(first + "-5000..5000", second + "-5000..5000", third + "-5000..5000");
      assertThat(harness.results(9_999))
          .containsExactly(
              "[" + name + ", " + at + ", 5.0, 0.4] 0..10000",
              "[null, " + at + ", 3.0, 0.2] 0..10000",
              third + "0..10000");
    }
  }

  @OutOfMemoryTest
  void cumulatingWindowsKeepTheRowsOfTheirSlices() throws Exception {
    try (WindowHarness harness =
        job(CUMULATE, count().as("n"), avg("price").as("a")).open(device)) {
      harness.send(0, List.of(bid(1, 2, 6_000), bid(1, 4, 11_000), bid(2, 6, 16_000)));
      assertThat(harness.results(4_999)).isEmpty();
      assertThat(harness.results(9_999)).containsExactly("[1, 1, 2] 0..10000");
      harness.send(0, List.of(bid(3, 9, 1_000)));
      assertThat(harness.results(14_999))
          .containsExactly("[1, 2, 3] 0..15000", "[3, 1, 9] 0..15000");
      harness.send(0, List.of(bid(3, 9, 1_000)));
      assertThat(harness.lateRowsDropped()).isEqualTo(1);
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly(
              "[2, 1, 6] 15000..20000", "[2, 1, 6] 15000..25000", "[2, 1, 6] 15000..30000");
    }
  }

  @OutOfMemoryTest
  void lateRowsGoToTheSideOutput() throws Exception {
    try (WindowHarness harness = job(TUMBLE, count().as("n")).keepingLateRows().open(device)) {
      harness.watermark(19_999);
      harness.send(0, List.of(bid(1, 1, 19_999), bid(2, 2, 20_000), bid(3, 3, 5_000)));
      harness.send(0, List.of(bid(4, 4, 12_000)));
      assertThat(harness.sideRows())
          .containsExactly(bid(1, 1, 19_999), bid(3, 3, 5_000), bid(4, 4, 12_000));
      assertThat(harness.lateRowsDropped()).isZero();
      assertThat(harness.results(29_999)).containsExactly("[2, 1] 20000..30000");
    }
  }

  // The third attempt is the last; then parts are added, merged or emitted.
  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitIsAddedInParts() throws Exception {
    try (WindowHarness harness = job(TUMBLE, count().as("n"), sum("price").as("s")).open(device)) {
      harness.send(
          0, List.of(bid(1, 1, 0), bid(2, 2, 11_000), bid(1, 4, 5_000), bid(2, 8, 10_000)));
      harness.send(0, List.of(bid(1, 16, 9_000), bid(3, 32, 1_000)));
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactlyInAnyOrder(
              "[1, 3, 21] 0..10000", "[3, 1, 32] 0..10000", "[2, 2, 10] 10000..20000");
    }
  }

  @OutOfMemoryTest
  void windowsOfInstantsAreInTheSessionsZone() throws Exception {
    Schema schema =
        Schema.of(
            new Field("auction", DataType.INT64, false),
            Field.of("at", DataType.timestamp(3, true)));
    Job job =
        new Job(
            schema, List.of("auction"), Tumble.over("at", Duration.ofHours(24)), count().as("n"));
    Instant midnight = Instant.parse("2024-06-01T00:00:00Z");
    try (WindowHarness harness = job.withZone(ZoneId.of("Asia/Shanghai")).open(device)) {
      harness.send(
          0,
          List.of(
              List.of(1L, midnight.minus(Duration.ofHours(8))),
              List.of(1L, midnight.minusSeconds(1))));
      long end = midnight.plus(Duration.ofHours(16)).toEpochMilli();
      harness.watermark(end - 2);
      assertThat(harness.rows()).isEmpty();
      harness.watermark(end - 1);
      assertThat(harness.rows())
          .containsExactly(
              List.of(
                  1L,
                  2L,
                  LocalDateTime.of(2024, 6, 1, 0, 0),
                  LocalDateTime.of(2024, 6, 2, 0, 0),
                  Instant.ofEpochMilli(end - 1)));
    }
  }

  private static Job instants(TimeWindow window, String zone) {
    Schema schema =
        Schema.of(
            new Field("auction", DataType.INT64, false),
            Field.of("ts", DataType.timestamp(3, true)));
    return new Job(schema, List.of("auction"), window, count().as("n")).withZone(ZoneId.of(zone));
  }

  private static List<Object> at(long auction, String instant) {
    return List.of(auction, Instant.parse(instant));
  }

  private static List<String> local(WindowHarness harness, String watermark) throws Exception {
    harness.watermark(Instant.parse(watermark).toEpochMilli());
    return harness.takeRows().stream().map(row -> row.subList(0, 4).toString()).toList();
  }

  // At 6:00 UTC the clock went from 1:59 back to 1:00: local times from 1:00 to 2:00 came twice.
  @Test
  void windowsOfAnHourThatComesTwiceHaveTheRowsOfBoth() throws Exception {
    TimeWindow window = Hop.over("ts", Duration.ofHours(1)).every(Duration.ofMinutes(30));
    try (WindowHarness harness = instants(window, "America/New_York").open(device)) {
      harness.send(0, List.of(at(1, "2024-11-03T05:10:00Z"), at(2, "2024-11-03T05:40:00Z")));
      assertThat(local(harness, "2024-11-03T05:59:59.999Z")).isEmpty();
      harness.send(0, List.of(at(1, "2024-11-03T06:20:00Z")));
      assertThat(local(harness, "2024-11-03T06:29:59.999Z"))
          .containsExactly("[1, 2, 2024-11-03T00:30, 2024-11-03T01:30]");
      harness.send(0, List.of(at(2, "2024-11-03T06:59:59.999Z")));
      assertThat(local(harness, "2024-11-03T06:59:59.999Z"))
          .containsExactly(
              "[1, 2, 2024-11-03T01:00, 2024-11-03T02:00]",
              "[2, 2, 2024-11-03T01:00, 2024-11-03T02:00]");
      assertThat(local(harness, "2024-11-03T07:29:59.999Z"))
          .containsExactly("[2, 2, 2024-11-03T01:30, 2024-11-03T02:30]");
    }
  }

  // At 7:00 UTC the clock went from 1:59 to 3:00.
  @Test
  void windowsThatEndInASkippedHourFireTogether() throws Exception {
    TimeWindow window = Hop.over("ts", Duration.ofHours(1)).every(Duration.ofMinutes(30));
    try (WindowHarness harness = instants(window, "America/New_York").open(device)) {
      harness.send(0, List.of(at(1, "2024-03-10T06:59:00Z"), at(2, "2024-03-10T07:01:00Z")));
      assertThat(local(harness, "2024-03-10T06:59:59.999Z"))
          .containsExactly("[1, 1, 2024-03-10T01:00, 2024-03-10T02:00]");
      assertThat(local(harness, "2024-03-10T07:00:00Z"))
          .containsExactly("[1, 1, 2024-03-10T01:30, 2024-03-10T02:30]");
      assertThat(local(harness, "2024-03-10T07:59:59.999Z"))
          .containsExactly(
              "[2, 1, 2024-03-10T02:30, 2024-03-10T03:30]",
              "[2, 1, 2024-03-10T03:00, 2024-03-10T04:00]");
    }
  }

  // At 15:30 UTC the clock went from 1:59 to 2:30.
  @Test
  void windowsFireOnceAndInOrderWhereHalfAnHourIsSkipped() throws Exception {
    TimeWindow window = Hop.over("ts", Duration.ofMinutes(40)).every(Duration.ofMinutes(10));
    try (WindowHarness harness = instants(window, "Australia/Lord_Howe").open(device)) {
      harness.send(0, List.of(at(1, "2024-10-05T15:25:00Z"), at(2, "2024-10-05T15:35:00Z")));
      assertThat(local(harness, "2024-10-05T15:30:00Z"))
          .containsExactly(
              "[1, 1, 2024-10-06T01:20, 2024-10-06T02:00]",
              "[1, 1, 2024-10-06T01:30, 2024-10-06T02:10]",
              "[1, 1, 2024-10-06T01:40, 2024-10-06T02:20]",
              "[1, 1, 2024-10-06T01:50, 2024-10-06T02:30]");
      assertThat(local(harness, "2024-10-05T15:45:00Z"))
          .containsExactly("[2, 1, 2024-10-06T02:00, 2024-10-06T02:40]");
      assertThat(local(harness, "2024-10-05T17:00:00Z")).hasSize(3);
    }
  }

  // 5:30 hours ahead of UTC: slices of an hour begin at half hours of UTC.
  @Test
  void windowsOfAZoneWithHalfHoursBeginAtItsFullHours() throws Exception {
    TimeWindow window = Cumulate.over("ts", Duration.ofHours(2)).every(Duration.ofHours(1));
    try (WindowHarness harness = instants(window, "Asia/Kolkata").open(device)) {
      harness.send(0, List.of(at(1, "2024-06-01T00:29:59.999Z"), at(1, "2024-06-01T00:30:00Z")));
      assertThat(local(harness, "2024-06-01T00:29:59.999Z"))
          .containsExactly("[1, 1, 2024-06-01T04:00, 2024-06-01T06:00]");
      assertThat(local(harness, "2024-06-01T02:30:00Z"))
          .containsExactly(
              "[1, 1, 2024-06-01T06:00, 2024-06-01T07:00]",
              "[1, 1, 2024-06-01T06:00, 2024-06-01T08:00]");
    }
  }

  @Test
  void aRowWithoutATimeFailsTheJob() throws Exception {
    Schema schema =
        Schema.of(
            new Field("auction", DataType.INT64, false), Field.of("ts", DataType.timestamp(3)));
    try (WindowHarness harness =
        new Job(schema, List.of("auction"), TUMBLE, count()).open(device)) {
      assertThatThrownBy(() -> harness.send(0, List.of(Arrays.asList(1L, null))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected times in column 'ts', got 1 nulls");
    }
  }

  static Stream<TimeWindow> windows() {
    return Stream.of(
        TUMBLE,
        TUMBLE.offset(Duration.ofSeconds(-3)),
        TUMBLE.offset(Duration.ofSeconds(3)),
        HOP,
        CUMULATE,
        Session.over("ts", Duration.ofSeconds(10)));
  }

  @ParameterizedTest
  @MethodSource("windows")
  void aTimeWhoseSliceEndsBehindAllTimesFailsTheJob(TimeWindow window) throws Exception {
    assertHasNoWindow(Long.MAX_VALUE, window, ZoneOffset.UTC);
    assertHasNoWindow(Long.MIN_VALUE, window, ZoneOffset.UTC);
    long hour = Duration.ofHours(1).toMillis();
    for (String zone : List.of("Asia/Shanghai", "America/New_York")) {
      assertHasNoWindow(Long.MAX_VALUE - hour, window, ZoneId.of(zone));
      assertHasNoWindow(Long.MIN_VALUE + hour, window, ZoneId.of(zone));
    }
  }

  private void assertHasNoWindow(long time, TimeWindow window, ZoneId zone) throws Exception {
    boolean isInstant = !zone.equals(ZoneOffset.UTC);
    Schema schema =
        Schema.of(
            new Field("auction", DataType.INT64, false),
            new Field("ts", DataType.timestamp(3, isInstant), false));
    Instant instant = Instant.ofEpochMilli(time);
    Object value = isInstant ? instant : LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
    try (WindowHarness harness =
        new Job(schema, List.of("auction"), window, count()).withZone(zone).open(device)) {
      assertThatThrownBy(() -> harness.send(0, List.of(List.of(1L, value))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith(
              "expected times in column 'ts' whose windows are within the milliseconds of a BIGINT,"
                  + " got ")
          .hasMessageEndingWith(" for " + window);
    }
  }

  @Test
  void theColumnsOfTheWindowAreThoseOfFlink() {
    assertThat(job(TUMBLE, count().as("n")).plan().outputSchema())
        .isEqualTo(
            Schema.of(
                new Field("auction", DataType.INT64, false),
                new Field("n", DataType.INT64, false),
                new Field("window_start", DataType.timestamp(3), false),
                new Field("window_end", DataType.timestamp(3), false),
                new Field("window_time", DataType.timestamp(3), false)));
  }
}
