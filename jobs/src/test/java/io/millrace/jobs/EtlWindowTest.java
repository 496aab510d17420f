// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.sql.SchemaParser;
import io.millrace.operators.testing.NothingHeldExtension;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.eventtime.TimestampAssigner;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jobs that aggregate by key and window. */
@ExtendWith(NothingHeldExtension.class)
class EtlWindowTest {
  private static final String BIDS =
      """
      {"auction":1,"price":10,"ts":"2026-01-01 00:00:01"}
      {"auction":2,"price":20,"ts":"2026-01-01 00:00:11"}
      {"auction":1,"price":30,"ts":"2026-01-01 00:00:09.999"}
      {"auction":1,"price":40,"ts":"2026-01-01 00:00:10"}
      """;
  private static final String SCHEMA = "auction BIGINT, price INT, ts TIMESTAMP(3)";

  private EtlFolder folder;

  @BeforeEach
  void createFolder(@TempDir Path path) {
    folder = new EtlFolder(path);
  }

  private List<String> bids() throws IOException {
    return List.of(
        "--input",
        folder.input(BIDS).toString(),
        "--schema",
        SCHEMA,
        "--group-by",
        "auction",
        "--aggregates",
        "SUM(price) AS total",
        "--window-time",
        "ts");
  }

  @Test
  void windowsThatFollowEachOther() throws IOException {
    assertThat(folder.lines(bids(), "--tumble", "10 s", "--output-format", "json"))
        .containsExactlyInAnyOrder(
            row(1, 40, "00:00:00", "00:00:10"),
            row(1, 40, "00:00:10", "00:00:20"),
            row(2, 20, "00:00:10", "00:00:20"));
  }

  @Test
  void windowsThatOverlap() throws IOException {
    assertThat(folder.lines(bids(), "--hop", "10s", "--slide", "5s", "--output-format", "json"))
        .containsExactlyInAnyOrder(
            "{\"auction\":1,\"total\":10,\"window_start\":\"2025-12-31T23:59:55.000\","
                + "\"window_end\":\"2026-01-01T00:00:05.000\"}",
            row(1, 40, "00:00:00", "00:00:10"),
            row(1, 70, "00:00:05", "00:00:15"),
            row(2, 20, "00:00:05", "00:00:15"),
            row(1, 40, "00:00:10", "00:00:20"),
            row(2, 20, "00:00:10", "00:00:20"));
  }

  @Test
  void windowsThatGrow() throws IOException {
    assertThat(
            folder.lines(
                bids(),
                "--cumulate",
                "10s",
                "--step",
                "5s",
                "--window-offset",
                "1s",
                "--output-format",
                "json"))
        .containsExactlyInAnyOrder(
            row(1, 10, "00:00:01", "00:00:06"),
            row(1, 80, "00:00:01", "00:00:11"),
            row(2, 20, "00:00:11", "00:00:16"),
            row(2, 20, "00:00:11", "00:00:21"));
  }

  @Test
  void sessions() throws IOException {
    assertThat(folder.lines(bids(), "--session", "2s", "--output-format", "json"))
        .containsExactlyInAnyOrder(
            row(1, 10, "00:00:01", "00:00:03"),
            "{\"auction\":1,\"total\":70,\"window_start\":\"2026-01-01T00:00:09.999\","
                + "\"window_end\":\"2026-01-01T00:00:12.000\"}",
            row(2, 20, "00:00:11", "00:00:13"));
  }

  private static String row(int auction, int total, String start, String end) {
    return "{\"auction\":"
        + auction
        + ",\"total\":"
        + total
        + ",\"window_start\":\"2026-01-01T"
        + start
        + ".000\",\"window_end\":\"2026-01-01T"
        + end
        + ".000\"}";
  }

  @Test
  void generatedBidsAreInOneWindowEach() throws IOException {
    Map<String, Long> starts = new TreeMap<>();
    for (String line :
        folder.lines(
            List.of("--events", "100000", "--batch-rows", "1000", "--group-by", "auction"),
            "--aggregates",
            "COUNT(*) AS bids",
            "--window-time",
            "date_time",
            "--tumble",
            "2s",
            "--output-format",
            "csv")) {
      String[] fields = line.split(",", -1);
      LocalDateTime start = LocalDateTime.parse(fields[2]);
      LocalDateTime end = LocalDateTime.parse(fields[3]);
      assertThat(start.until(end, ChronoUnit.MILLIS)).isEqualTo(2_000);
      assertThat(start.getSecond() % 2).isZero();
      starts.merge(fields[2], Long.parseLong(fields[1]), Long::sum);
    }
    assertThat(starts).hasSizeGreaterThan(3);
    assertThat(starts.values().stream().mapToLong(Long::longValue).sum()).isEqualTo(100_000);
  }

  @Test
  void lateRowsAreCountedAndNotWritten() throws IOException {
    EtlRun run = folder.run(bidsWithLateOnes());
    assertThat(run.err()).isEmpty();
    Matcher late = Pattern.compile("late rows +([0-9,]+)").matcher(run.out());
    assertThat(late.find()).isTrue();
    long lateRows = Long.parseLong(late.group(1).replace(",", ""));
    assertThat(lateRows).isBetween(20_000L, 80_000L);
    assertThat(bidsOf(EtlRun.lines(folder.output())) + lateRows).isEqualTo(100_000);
  }

  // Half of the bids are an hour late.
  private static List<String> bidsWithLateOnes() {
    return List.of(
        "--events",
        "100000",
        "--batch-rows",
        "1000",
        "--select",
        "auction, CASE WHEN MOD(price, 2) = 0 THEN date_time - INTERVAL '1' HOUR"
            + " ELSE date_time END AS ts",
        "--group-by",
        "auction",
        "--aggregates",
        "COUNT(*)",
        "--window-time",
        "ts",
        "--tumble",
        "1s");
  }

  @Test
  void lateRowsAreWrittenToAFolder() throws IOException {
    Path late = folder.output().resolveSibling("late");
    EtlRun run = folder.run(bidsWithLateOnes(), "--late-rows", late.toString());
    assertThat(run.err()).isEmpty();
    List<String> lateRows = EtlRun.lines(late);
    assertThat(lateRows)
        .hasSizeBetween(20_000, 80_000)
        .allMatch(row -> row.contains(",2015-07-14T23:"));
    assertThat(run.out())
        .containsPattern(
            String.format(Locale.ROOT, "late rows +%,d, in %s\n", lateRows.size(), late));
    assertThat(lateRows.size() + bidsOf(EtlRun.lines(folder.output()))).isEqualTo(100_000);
  }

  private static long bidsOf(List<String> rows) {
    return rows.stream().mapToLong(line -> Long.parseLong(line.split(",", -1)[1])).sum();
  }

  @Test
  void rowsWithinTheAllowedLatenessChangeWindowsThatAreWritten() throws IOException {
    EtlRun run = folder.run(bidsWithLateOnes(), "--allowed-lateness", "2h");
    assertThat(run.err()).isEmpty();
    assertThat(run.out()).containsPattern("late rows +0\n");
    List<String> changes = EtlRun.lines(folder.output());
    assertThat(changes).anyMatch(line -> line.startsWith("UPDATE_BEFORE,"));
    assertThat(bidsOf(rowsThatStay(changes))).isEqualTo(100_000);
  }

  @Test
  void windowsThatHaveNotEndedAreWrittenEarly() throws IOException {
    List<String> changes =
        folder.lines(
            List.of("--events", "60000", "--rate", "30000", "--group-by", "auction"),
            "--aggregates",
            "COUNT(*)",
            "--window-time",
            "date_time",
            "--tumble",
            "1h",
            "--early-firing",
            "100ms");
    assertThat(changes).anyMatch(line -> line.startsWith("UPDATE_AFTER,"));
    List<String> rows = rowsThatStay(changes);
    assertThat(bidsOf(rows)).isEqualTo(60_000);
    assertThat(rows.stream().map(row -> row.split(",", -1)[0])).doesNotHaveDuplicates();
  }

  /** The rows that changes leave, each of which is there once. */
  private static List<String> rowsThatStay(List<String> changes) {
    Set<String> rows = new HashSet<>();
    for (String change : changes) {
      int end = change.indexOf(',');
      String row = change.substring(end + 1);
      assertThat(
              switch (change.substring(0, end)) {
                case "INSERT", "UPDATE_AFTER" -> rows.add(row);
                case "UPDATE_BEFORE" -> rows.remove(row);
                default -> false;
              })
          .as(change)
          .isTrue();
    }
    return List.copyOf(rows);
  }

  @Test
  void rowsInTheOrderOfTheirTimesAreNotLate() throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int second = 10; second < 60; second++) {
      String line = "{\"auction\":1,\"price\":1,\"ts\":\"2026-01-01 00:00:" + second + "\"}\n";
      lines.append(line.repeat(4_000));
    }
    EtlRun run =
        folder.run(
            List.of("--input", folder.input(lines.toString()).toString(), "--schema", SCHEMA),
            "--group-by",
            "auction",
            "--aggregates",
            "COUNT(*)",
            "--window-time",
            "ts",
            "--tumble",
            "10s",
            "--watermark",
            "ts");
    assertThat(run.err()).isEmpty();
    assertThat(run.out()).containsPattern("late rows +0\n");
    assertThat(EtlRun.lines(folder.output())).hasSize(5).allMatch(line -> line.contains(",40000,"));
  }

  @Test
  void theWatermarkFollowsTheTimesOfRows() {
    Configuration settings = new Configuration();
    settings.set(EtlWatermark.COLUMN, "ts");
    settings.set(EtlWatermark.DELAY, Duration.ofSeconds(5));
    WatermarkStrategy<RowData> strategy =
        EtlWatermark.strategy(settings, SchemaParser.parse("s", SCHEMA));
    TimestampAssigner<RowData> times = strategy.createTimestampAssigner(null);
    WatermarkGenerator<RowData> generator = strategy.createWatermarkGenerator(null);
    List<Long> watermarks = new ArrayList<>();
    for (Long millis : Arrays.asList(null, 60_000L, 50_000L, null, 70_000L)) {
      RowData row =
          GenericRowData.of(1L, 1, millis == null ? null : TimestampData.fromEpochMillis(millis));
      generator.onEvent(row, times.extractTimestamp(row, 0), null);
      generator.onPeriodicEmit(new RecordedWatermarks(watermarks));
    }
    assertThat(watermarks).containsExactly(Long.MIN_VALUE, 54_999L, 54_999L, 54_999L, 64_999L);
  }

  private record RecordedWatermarks(List<Long> watermarks) implements WatermarkOutput {
    @Override
    public void emitWatermark(Watermark watermark) {
      watermarks.add(watermark.getTimestamp());
    }

    @Override
    public void markIdle() {
      throw new IllegalStateException("the source is not idle");
    }

    @Override
    public void markActive() {
      throw new IllegalStateException("the source is not idle");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--tumble 10s | group-by.window.tumble needs group-by.window.time",
        "--tumble 10s --window-time no | group-by: there is no time column 'no'",
        "--tumble 10s --window-time price | group-by: expected TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits for time column 'price', got INT",
        "--tumble 0s --window-time ts | group-by.window: expected a positive duration, got PT0S",
        "--hop 10s --window-time ts | group-by.window.hop.size needs group-by.window.hop.slide",
        "--slide 10s --window-time ts --tumble 10s | group-by.window.hop.slide needs group-by.window.hop.size",
        "--hop 10s --slide 3s --window-time ts | group-by.window: expected a size of HOP that is a multiple of 3000 ms, got 10000 ms",
        "--hop 10s --slide 2s --tumble 1s --window-time ts | group-by.window: expected one window function, got group-by.window.tumble and group-by.window.hop.size",
        "--session 0s --window-time ts | group-by.window: expected a positive duration, got PT0S",
        "--session 10s --tumble 1s --window-time ts | group-by.window: expected one window function, got group-by.window.tumble and group-by.window.session",
        "--session 10s --window-time ts --window-offset 1s | group-by.window.offset has no effect here: it is used only where group-by.keys and a window other than group-by.window.session are given",
        "--session 10s --window-time ts --allowed-lateness 1s | group-by.window.allowed-lateness: expected TUMBLE, HOP or CUMULATE of event time for allowed lateness, got SESSION(time_col=[ts], gap=[10 s])",
        "--session 10s --window-time ts --early-firing 1s | group-by.window.early-firing: expected TUMBLE, HOP or CUMULATE of event time for early firing, got SESSION(time_col=[ts], gap=[10 s])",
        "--tumble 1s --window-time ts --early-firing 100micros | group-by.window.early-firing: expected whole milliseconds, got PT0.0001S",
        "--tumble 1s --window-time ts --watermark price | source.watermark.column: expected TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits for column 'price', got INT",
        "--tumble 1s --window-time ts --watermark no | source.watermark.column: expected a column of source.schema, got 'no'",
        "--tumble 1s --window-time ts --group-by-result last | group-by.result has no effect here: it is used only where group-by.keys is given and no window is",
      })
  void wrongWindowsAreSaidInOneLine(String options, String message) throws IOException {
    EtlRun run =
        folder.run(
            List.of(
                "--input",
                folder.input(BIDS).toString(),
                "--schema",
                SCHEMA,
                "--group-by",
                "auction"),
            ("--aggregates COUNT(*) " + options).split(" "));
    assertThat(run.err()).isEqualTo("millrace etl: " + message + System.lineSeparator());
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @Test
  void theExampleOfTheReadmeRuns() throws IOException {
    Path config = folder.exampleOfReadme("window");
    assertThat(
            folder.lines(
                List.of("--config", config.toString(), "--input", folder.input(BIDS).toString())))
        .containsExactlyInAnyOrder(
            "1,2,30,2026-01-01T00:00:00.000,2026-01-01T00:00:10.000",
            "1,1,40,2026-01-01T00:00:10.000,2026-01-01T00:00:20.000",
            "2,1,20,2026-01-01T00:00:10.000,2026-01-01T00:00:20.000");
  }
}
