// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster.job;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.Schema;
import io.millrace.operators.process.HostKeyedBatch;
import io.millrace.operators.process.HostKeyedFunction;
import io.millrace.operators.process.HostMapState;
import io.millrace.operators.process.MapStateSchema;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.types.Row;

/**
 * Keeps the count, the sum and the maximum of the bids of each bidder for an auction in a map, and
 * emits and clears the map of an auction by a timer: some time behind its first bid, and at the end
 * of the input. So what it emits are parts that add up to the totals, whenever timers fire.
 */
final class PartialTotals extends HostKeyedFunction {
  private static final long serialVersionUID = 1L;
  private static final String TOTALS = "totals";
  private static final String DUE = "due";
  private static final long DELAY_MILLIS = 250;
  // Behind all bids: 9999-12-31.
  private static final long END_OF_INPUT = 253_402_214_400_000L;
  private static final long NONE = Long.MIN_VALUE;

  @Override
  public Schema outputSchema(Schema input) {
    return Schema.of(
        new Field("auction", DataType.INT64, false),
        new Field("bidder", DataType.INT64, false),
        new Field("bids", DataType.INT64, false),
        new Field("total", DataType.INT64, false),
        new Field("highest", DataType.INT64, false));
  }

  @Override
  public Schema stateSchema(Schema input) {
    return Schema.of(Field.of(DUE, DataType.INT64));
  }

  @Override
  public List<MapStateSchema> mapStates(Schema input) {
    return List.of(
        new MapStateSchema(
            TOTALS,
            Schema.of(Field.of("bidder", DataType.INT64)),
            Schema.of(
                Field.of("bids", DataType.INT64),
                Field.of("total", DataType.INT64),
                Field.of("highest", DataType.INT64))));
  }

  @Override
  public Duration timerSlices() {
    return Duration.ofSeconds(1);
  }

  @Override
  protected void process(HostKeyedBatch batch) {
    HostMapState totals = batch.map(TOTALS);
    ColumnReader bidders = batch.column("bidder");
    ColumnReader prices = batch.column("price");
    for (int row = 0; row < batch.rowCount(); row++) {
      totals.request(batch.keyOf(row), Row.of(bidders.getLong(row)));
    }
    long[] due = due(batch);
    for (int row = 0; row < batch.rowCount(); row++) {
      int auction = batch.keyOf(row);
      add(totals, auction, Row.of(bidders.getLong(row)), prices.getLong(row));
      if (due[auction] == NONE) {
        due[auction] = batch.processingTime() + DELAY_MILLIS;
        batch.registerProcessingTimeTimer(auction, due[auction]);
        batch.registerEventTimeTimer(auction, END_OF_INPUT);
      }
    }
    update(batch, due);
  }

  private static void add(HostMapState totals, int auction, Row bidder, long price) {
    Row before = totals.get(auction, bidder);
    totals.put(
        auction,
        bidder,
        before == null
            ? Row.of(1L, price, price)
            : Row.of(
                before.<Long>getFieldAs(0) + 1,
                before.<Long>getFieldAs(1) + price,
                Math.max(before.<Long>getFieldAs(2), price)));
  }

  @Override
  protected void onTimer(HostKeyedBatch timers, TimeDomain domain) {
    HostMapState totals = timers.map(TOTALS);
    IntStream.range(0, timers.keyCount()).forEach(totals::requestEntries);
    long[] due = due(timers);
    for (int auction = 0; auction < timers.keyCount(); auction++) {
      long id = timers.key("auction").getLong(auction);
      totals.entries(auction).forEach((bidder, values) -> emit(timers, id, bidder, values));
      totals.clear(auction);
      timers.deleteProcessingTimeTimer(auction, due[auction]);
      timers.deleteEventTimeTimer(auction, END_OF_INPUT);
      due[auction] = NONE;
    }
    update(timers, due);
  }

  private static void emit(HostKeyedBatch timers, long auction, Row bidder, Row values) {
    append(timers, 0, auction);
    append(timers, 1, bidder.getFieldAs(0));
    for (int i = 0; i < values.getArity(); i++) {
      append(timers, 2 + i, values.getFieldAs(i));
    }
  }

  private static void append(HostKeyedBatch timers, int column, Long value) {
    ((FixedWidthColumnBuilder) timers.output().column(column)).appendLong(value);
  }

  private static long[] due(HostKeyedBatch batch) {
    ColumnReader column = batch.state(DUE);
    long[] times = new long[batch.keyCount()];
    Arrays.setAll(times, key -> column.isNull(key) ? NONE : column.getLong(key));
    return times;
  }

  private static void update(HostKeyedBatch batch, long[] due) {
    FixedWidthColumnBuilder state = (FixedWidthColumnBuilder) batch.newState().column(0);
    for (long time : due) {
      if (time == NONE) {
        state.appendNull();
      } else {
        state.appendLong(time);
      }
    }
  }
}
