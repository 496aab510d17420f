// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.process;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.Schema;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.operators.process.HostKeyedBatch;
import io.millrace.operators.process.HostKeyedFunction;
import io.millrace.operators.process.HostListState;
import io.millrace.operators.process.HostMapState;
import io.millrace.operators.process.ListStateSchema;
import io.millrace.operators.process.MapStateSchema;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.types.Row;

/** The example of docs/keyed-process.md with a map and a list. */
final class AuctionsOfBidders extends HostKeyedFunction {
  private static final long serialVersionUID = 1L;
  private static final long MINUTE = 60_000;
  private static final long NONE = Long.MIN_VALUE;

  @Override
  public Schema outputSchema(Schema input) {
    return Schema.of(
        new Field("bidder", DataType.INT64, false), new Field("what", DataType.STRING, false));
  }

  @Override
  public Schema stateSchema(Schema input) {
    return Schema.of(Field.of("last", DataType.INT64));
  }

  @Override
  public List<MapStateSchema> mapStates(Schema input) {
    Schema auction = Schema.of(Field.of("auction", DataType.INT64));
    return List.of(
        new MapStateSchema("bids", auction, Schema.of(Field.of("count", DataType.INT64))));
  }

  @Override
  public List<ListStateSchema> listStates(Schema input) {
    return List.of(new ListStateSchema("order", Schema.of(Field.of("auction", DataType.INT64))));
  }

  @Override
  public Duration timerSlices() {
    return Duration.ofMinutes(1);
  }

  @Override
  protected void process(HostKeyedBatch batch) {
    HostMapState bids = batch.map("bids");
    HostListState order = batch.list("order");
    ColumnReader auctions = batch.column("auction");
    for (int row = 0; row < batch.rowCount(); row++) {
      bids.request(batch.keyOf(row), Row.of(auctions.getLong(row)));
    }
    long[] last = last(batch);
    for (int row = 0; row < batch.rowCount(); row++) {
      int bidder = batch.keyOf(row);
      Row auction = Row.of(auctions.getLong(row));
      Row before = bids.get(bidder, auction);
      long count = before == null ? 1 : before.<Long>getFieldAs(0) + 1;
      if (count == 3) {
        emit(batch, bidder, "three bids for " + auction.getField(0));
        bids.remove(bidder, auction);
      } else {
        bids.put(bidder, auction, Row.of(count));
      }
      order.add(bidder, auction);
      last[bidder] = batch.column("ts").getLong(row);
      batch.registerEventTimeTimer(bidder, last[bidder] + MINUTE);
    }
    update(batch, last);
  }

  @Override
  protected void onTimer(HostKeyedBatch timers, TimeDomain domain) {
    HostMapState bids = timers.map("bids");
    HostListState order = timers.list("order");
    ColumnReader times = timers.column(TIMER);
    long[] last = last(timers);
    IntStream.range(0, timers.keyCount()).forEach(bids::requestEntries);
    for (int row = 0; row < timers.rowCount(); row++) {
      int bidder = timers.keyOf(row);
      if (times.getLong(row) == last[bidder] + MINUTE) {
        List<Object> auctions =
            order.get(bidder).stream().map(element -> element.getField(0)).toList();
        emit(timers, bidder, bids.entries(bidder).size() + " auctions, of " + auctions);
        bids.clear(bidder);
        order.clear(bidder);
        last[bidder] = NONE;
      }
    }
    update(timers, last);
  }

  private static long[] last(HostKeyedBatch batch) {
    ColumnReader column = batch.state("last");
    long[] values = new long[batch.keyCount()];
    Arrays.setAll(values, key -> column.isNull(key) ? NONE : column.getLong(key));
    return values;
  }

  private static void update(HostKeyedBatch batch, long[] values) {
    FixedWidthColumnBuilder state = (FixedWidthColumnBuilder) batch.newState().column(0);
    for (long value : values) {
      if (value == NONE) {
        state.appendNull();
      } else {
        state.appendLong(value);
      }
    }
  }

  private static void emit(HostKeyedBatch batch, int bidder, String what) {
    long id = batch.key("bidder").getLong(bidder);
    ((FixedWidthColumnBuilder) batch.output().column(0)).appendLong(id);
    byte[] text = what.getBytes(StandardCharsets.UTF_8);
    ((VariableWidthColumnBuilder) batch.output().column(1)).appendBytes(text);
  }
}
