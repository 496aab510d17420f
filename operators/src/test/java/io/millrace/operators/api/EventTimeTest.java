// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.HoldBatches;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RowCollector;
import io.millrace.operators.transform.FailedRows;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.TimestampAssigner;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rows leave with the event times that they came with, as with stock operators. */
@ExtendWith(NothingHeldExtension.class)
class EventTimeTest {
  private static final int ROWS = 2_000;
  private static final int ROWS_WITHOUT_TIME = 10;
  private static final Duration DISORDER = Duration.ofMillis(500);
  private static final Duration WINDOW = Duration.ofSeconds(10);
  private static final Schema BIDS =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("price", DataType.INT32),
          Field.of("tags", DataType.list(DataType.INT32)),
          Field.of("ts", DataType.timestamp(3)));
  private static final BatchOptions BATCHES = BatchOptions.DEFAULT.withRows(300, 300);

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private final StreamExecutionEnvironment environment = flink.environment(2);
  private final RowCollector<String> collector = new RowCollector<>();

  /** A row as users write them. */
  public static final class Bid {
    public long id;
    public Integer price;
  }

  private static long time(long id) {
    return 10 * id + id * 7_919 % DISORDER.toMillis() - DISORDER.toMillis() / 2;
  }

  private static LocalDateTime anHourLater(long id) {
    return LocalDateTime.ofEpochSecond(Math.floorDiv(time(id), 1_000), 0, ZoneOffset.UTC)
        .plusHours(1);
  }

  private static Row row(long id) {
    return Row.of(id, (int) (id % 100), new Integer[] {1, 2}, anHourLater(id));
  }

  private DataStream<Row> rows(int count) {
    return environment
        .fromSequence(0, count - 1)
        .map(EventTimeTest::row)
        .returns(ExternalRowDecoder.typeInformation(BIDS));
  }

  private static <T> DataStream<T> withTimes(DataStream<T> rows, MapFunction<T, Long> time) {
    return rows.assignTimestampsAndWatermarks(
        WatermarkStrategy.<T>forBoundedOutOfOrderness(DISORDER)
            .withTimestampAssigner((row, recordTime) -> unchecked(time, row)));
  }

  private static <T> long unchecked(MapFunction<T, Long> time, T row) {
    try {
      return time.map(row);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static long id(Row row) {
    return row.<Long>getFieldAs(0);
  }

  private DataStream<Row> bids(int count) {
    return withTimes(rows(count), row -> time(id(row)));
  }

  private ColumnStream batches() {
    return ColumnStream.from(bids(ROWS), BIDS).batch(BATCHES);
  }

  /** Gives each row's number and its timestamp. */
  static final class Times<T> extends ProcessFunction<T, String> {
    private static final long serialVersionUID = 1L;
    private final MapFunction<T, Long> id;

    Times(MapFunction<T, Long> id) {
      this.id = id;
    }

    @Override
    public void processElement(T row, Context context, Collector<String> output) throws Exception {
      Long time = context.timestamp();
      boolean isKnown = time != null && time != TimestampAssigner.NO_TIMESTAMP;
      output.collect(id.map(row) + (isKnown ? "@" + time : " without time"));
    }
  }

  private <T> List<String> times(DataStream<T> rows, MapFunction<T, Long> id) throws Exception {
    collector.collect(rows.process(new Times<>(id)).returns(Types.STRING), text -> text);
    flink.run(environment);
    return collector.rows();
  }

  private List<String> times(ColumnStream stream) throws Exception {
    return times(stream.toRows(), EventTimeTest::id);
  }

  private static List<String> expected(long from, long to, LongFunction<String> text) {
    return LongStream.range(from, to).mapToObj(text).toList();
  }

  private static List<String> timesOfAll() {
    return expected(0, ROWS, id -> id + "@" + time(id));
  }

  private static DataStream<String> windows(DataStream<Row> rows) {
    return rows.keyBy(row -> id(row) % 7)
        .window(TumblingEventTimeWindows.of(WINDOW))
        .apply(
            (Long key, TimeWindow window, Iterable<Row> elements, Collector<String> output) -> {
              long count = 0;
              for (Row ignored : elements) {
                count++;
              }
              output.collect(window.getStart() + " " + key + ": " + count);
            },
            Types.STRING);
  }

  @Test
  void windowsBehindAFilterAreThoseOfAStockJob() throws Exception {
    DataStream<Row> rows = bids(20_000);
    DataStream<Row> filtered =
        ColumnStream.from(rows, BIDS)
            .batch(BatchOptions.DEFAULT.withRows(1_000, 1_000))
            .filter(col("price").ge(10))
            .toRows();
    RowCollector<String> stock = new RowCollector<>();
    stock.collect(windows(rows.filter(row -> row.<Integer>getFieldAs(1) >= 10)), text -> text);
    collector.collect(windows(filtered), text -> text);
    flink.run(environment);
    assertThat(stock.rows()).hasSizeGreaterThan(140);
    assertThat(collector.rows()).containsExactlyInAnyOrderElementsOf(stock.rows());
  }

  @OutOfMemoryTest(onCluster = true)
  void selectedAndComputedColumnsLeaveRowsTheirTimes() throws Exception {
    ColumnStream stream =
        batches()
            .select(col("id"), col("price"))
            .withColumn("twice", col("price").times(2))
            .filter(col("twice").ge(0));
    assertThat(times(stream)).containsExactlyInAnyOrderElementsOf(timesOfAll());
  }

  @Test
  void rowsThatGoToTheOwnersOfTheirKeysKeepTheirTimes() throws Exception {
    ColumnStream stream = batches().keyBy("id").select(col("id")).rebalance();
    assertThat(times(stream)).containsExactlyInAnyOrderElementsOf(timesOfAll());
  }

  @Test
  void explodedSampledAndSortedRowsKeepTheirTimes() throws Exception {
    ColumnStream stream =
        batches()
            .explode("tags")
            .filter(col("tags").isEqual(lit(2)))
            .sample(1.0, 42)
            .sortWithinBatch(col("price").desc());
    assertThat(times(stream)).containsExactlyInAnyOrderElementsOf(timesOfAll());
  }

  @Test
  void rowsWithAndWithoutTimesStayThatWayInAUnion() throws Exception {
    DataStream<Row> timeless = rows(ROWS).filter(row -> id(row) < ROWS_WITHOUT_TIME);
    ColumnStream stream =
        ColumnStream.from(timeless, BIDS)
            .batch()
            .union(batches().filter(col("id").ge(ROWS_WITHOUT_TIME)))
            .keyBy("price");
    List<String> all = new ArrayList<>();
    all.addAll(expected(0, ROWS_WITHOUT_TIME, id -> id + " without time"));
    all.addAll(expected(ROWS_WITHOUT_TIME, ROWS, id -> id + "@" + time(id)));
    assertThat(times(stream)).containsExactlyInAnyOrderElementsOf(all);
  }

  @Test
  void rowsWithAndWithoutTimesStayThatWayInABatch() throws Exception {
    DataStream<Row> rows =
        withTimes(
            rows(ROWS), row -> id(row) % 3 == 0 ? TimestampAssigner.NO_TIMESTAMP : time(id(row)));
    assertThat(times(ColumnStream.from(rows, BIDS).batch(BATCHES).keyBy("id")))
        .containsExactlyInAnyOrderElementsOf(
            expected(0, ROWS, id -> id + (id % 3 == 0 ? " without time" : "@" + time(id))));
  }

  @Test
  void rowsWithoutTimesGetNone() throws Exception {
    ColumnStream stream = ColumnStream.from(rows(ROWS), BIDS).batch(BATCHES).keyBy("id");
    assertThat(times(stream))
        .containsExactlyInAnyOrderElementsOf(expected(0, ROWS, id -> id + " without time"));
  }

  @Test
  void pojosKeepTheirTimes() throws Exception {
    DataStream<Bid> pojos = batches().select(col("id"), col("price")).toPojo(Bid.class);
    assertThat(times(pojos, bid -> bid.id)).containsExactlyInAnyOrderElementsOf(timesOfAll());
  }

  @Test
  void changesKeepTheirTimesAndKinds() throws Exception {
    Schema changes = RowKindColumn.addTo(BIDS);
    DataStream<Row> rows =
        bids(ROWS)
            .map(
                row -> {
                  row.setKind(id(row) % 2 == 0 ? RowKind.INSERT : RowKind.DELETE);
                  return row;
                })
            .returns(ExternalRowDecoder.typeInformation(changes));
    DataStream<RowData> changed =
        ColumnStream.from(rows, changes)
            .batch(BATCHES)
            .withColumn("price", col("price").plus(1))
            .keyBy("id")
            .toRowData();
    assertThat(
            times(
                changed,
                row -> row.getRowKind() == RowKind.DELETE ? -row.getLong(0) : row.getLong(0)))
        .containsExactlyInAnyOrderElementsOf(
            expected(0, ROWS, id -> (id % 2 == 0 ? id : -id) + "@" + time(id)));
  }

  @Test
  void aColumnGivesRowsOtherTimes() throws Exception {
    DataStream<Row> rows = batches().keyBy("id").toRows("ts");
    assertThat(times(rows, EventTimeTest::id))
        .containsExactlyInAnyOrderElementsOf(
            expected(
                0,
                ROWS,
                id -> id + "@" + anHourLater(id).toInstant(ZoneOffset.UTC).toEpochMilli()));
  }

  @Test
  void rowsThatAnExpressionFailsForKeepTheirTimes() throws Exception {
    ColumnStream stream =
        batches()
            .select(col("id"), lit(100).dividedBy(col("price").minus(5)).as("ratio"))
            .skipFailedRows();
    RowCollector<String> reasons = new RowCollector<>();
    DataStream<Row> failed = stream.failedRows().toRows();
    reasons.collect(failed, row -> row.getFieldAs(FailedRows.REASON));
    assertThat(times(failed, EventTimeTest::id))
        .containsExactlyInAnyOrderElementsOf(
            LongStream.range(0, ROWS)
                .filter(id -> id % 100 == 5)
                .mapToObj(id -> id + "@" + time(id))
                .toList());
    assertThat(reasons.rows()).isNotEmpty().allMatch(reason -> reason.contains("by zero"));
  }

  @Test
  void timesPassOperatorsThatHandBatchesOn() throws Exception {
    HoldBatches hold = new HoldBatches();
    hold.release();
    ColumnStream held = ColumnStream.fromBatches(hold.apply(batches().keyBy("id").toBatches()));
    assertThat(times(held.toRowData(), row -> row.getLong(0)))
        .containsExactlyInAnyOrderElementsOf(timesOfAll());
  }

  @Test
  void noExitButRowsHasTheColumnOfTimes() throws Exception {
    ColumnStream stream = batches().filter(col("price").ge(0));
    RowCollector<List<String>> arrow = new RowCollector<>();
    arrow.collect(
        stream.toArrow(),
        root -> root.getSchema().getFields().stream().map(field -> field.getName()).toList());
    RowCollector<List<String>> batches = new RowCollector<>();
    batches.collect(stream.toBatches(), batch -> batch.table().schema().names());
    assertThat(stream.toBatches().getType().toString()).doesNotContain(EventTimeColumn.NAME);
    assertThat(stream.schema()).isEqualTo(BIDS);
    assertThat(stream.explain()).doesNotContain(EventTimeColumn.NAME);
    times(stream);
    assertThat(arrow.rows()).isNotEmpty().containsOnly(BIDS.names());
    assertThat(batches.rows()).isNotEmpty().containsOnly(BIDS.names());
  }

  @Test
  void timesAreNotKeptWhereNoExitNeedsThem() throws Exception {
    ColumnStream stream = batches().keyBy("id");
    RowCollector<List<String>> columns = new RowCollector<>();
    columns.collect(stream.toBatches(), batch -> batch.tableWithEventTimes().schema().names());
    times(stream.toRows("ts"), EventTimeTest::id);
    assertThat(columns.rows()).isNotEmpty().containsOnly(BIDS.names());
  }

  @Test
  void theNameOfTheColumnOfTimesIsReserved() {
    ColumnStream stream = batches();
    assertThatThrownBy(() -> stream.select(col("id").as(EventTimeColumn.NAME)))
        .isInstanceOf(ExpressionException.class)
        .hasMessageStartingWith("the column name '$event_time' is reserved");
    assertThatThrownBy(() -> stream.withColumn(EventTimeColumn.NAME, lit(1L)))
        .isInstanceOf(ExpressionException.class)
        .hasMessageStartingWith("the column name '$event_time' is reserved");
    assertThatThrownBy(() -> stream.filter(col(EventTimeColumn.NAME).gt(0)))
        .hasMessageStartingWith("there is no column '$event_time'");
    assertThatThrownBy(() -> ColumnStream.from(rows(1), EventTimeColumn.addTo(BIDS)).batch())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("the column name '$event_time' is reserved");
  }
}
