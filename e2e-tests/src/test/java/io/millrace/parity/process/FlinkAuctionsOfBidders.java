// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.process;

import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;

/** What {@link AuctionsOfBidders} does, as a function of Flink. */
final class FlinkAuctionsOfBidders extends KeyedProcessFunction<Long, Row, Row> {
  private static final long serialVersionUID = 1L;
  private static final long MINUTE = 60_000;

  private transient ValueState<Long> last;
  private transient MapState<Long, Long> bids;
  private transient ListState<Long> order;

  @Override
  public void open(OpenContext context) {
    last = getRuntimeContext().getState(new ValueStateDescriptor<>("last", Types.LONG));
    bids =
        getRuntimeContext().getMapState(new MapStateDescriptor<>("bids", Types.LONG, Types.LONG));
    order = getRuntimeContext().getListState(new ListStateDescriptor<>("order", Types.LONG));
  }

  @Override
  public void processElement(Row bid, Context context, Collector<Row> output) throws Exception {
    long auction = bid.<Long>getFieldAs(1);
    Long before = bids.get(auction);
    long count = before == null ? 1 : before + 1;
    if (count == 3) {
      output.collect(Row.of(context.getCurrentKey(), "three bids for " + auction));
      bids.remove(auction);
    } else {
      bids.put(auction, count);
    }
    order.add(auction);
    last.update(FlinkBurstAlerts.millis(bid.<LocalDateTime>getFieldAs(2)));
    context.timerService().registerEventTimeTimer(last.value() + MINUTE);
  }

  @Override
  public void onTimer(long time, OnTimerContext context, Collector<Row> output) throws Exception {
    if (last.value() != null && time == last.value() + MINUTE) {
      List<Long> auctions = new ArrayList<>();
      order.get().forEach(auctions::add);
      int count = 0;
      for (Long ignored : bids.keys()) {
        count++;
      }
      output.collect(Row.of(context.getCurrentKey(), count + " auctions, of " + auctions));
      bids.clear();
      order.clear();
      last.clear();
    }
  }
}
