// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.operator;

import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;

/** Keeps the last row of each key of a changelog, and emits it when the input is at its end. */
@Internal
public final class LastRowFunction extends KeyedProcessFunction<Row, Row, Row> {
  private static final long serialVersionUID = 1L;

  private final TypeInformation<Row> type;
  private transient ValueState<Row> lastRow;

  public LastRowFunction(TypeInformation<Row> type) {
    this.type = type;
  }

  @Override
  public void open(OpenContext context) {
    lastRow = getRuntimeContext().getState(new ValueStateDescriptor<>("last-row", type));
  }

  @Override
  public void processElement(Row change, Context context, Collector<Row> out) throws Exception {
    switch (change.getKind()) {
      case INSERT, UPDATE_AFTER -> {
        context.timerService().registerEventTimeTimer(Watermark.MAX_WATERMARK.getTimestamp());
        change.setKind(RowKind.INSERT);
        lastRow.update(change);
      }
      case DELETE -> lastRow.clear();
      case UPDATE_BEFORE -> {
        // The row after the update follows.
      }
    }
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<Row> out) throws Exception {
    Row row = lastRow.value();
    if (row != null) {
      out.collect(row);
      lastRow.clear();
    }
  }
}
