// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;

/** What happens to late rows: they go to a side output, or are dropped and counted. */
final class LateRows {
  // null: late rows are dropped.
  private final OutputTag<ColumnBatch> tag;
  private final Counter dropped;
  private final Output<StreamRecord<ColumnBatch>> output;

  /**
   * @param tag of the side output; null if late rows are dropped
   */
  LateRows(
      OutputTag<ColumnBatch> tag, MetricGroup metrics, Output<StreamRecord<ColumnBatch>> output) {
    this.tag = tag;
    this.dropped = metrics.counter("numLateRecordsDropped");
    this.output = output;
  }

  /** Whether late rows go to the side output. */
  boolean areKept() {
    return tag != null;
  }

  /** The columns of a batch; with the event times of its rows if late rows are kept. */
  Table table(ColumnBatch batch) {
    return areKept() ? batch.tableWithEventTimes() : batch.table();
  }

  /**
   * Takes late rows.
   *
   * @param rows the columns of the batch if late rows are kept; stays the caller's
   * @param element the batch that they were in
   */
  void add(Table rows, StreamRecord<ColumnBatch> element) {
    if (tag == null) {
      dropped.inc(rows.rowCount());
      return;
    }
    ColumnBatch batch = new ColumnBatch(rows.share());
    try {
      output.collect(tag, element.copy(batch));
    } finally {
      batch.release();
    }
  }
}
