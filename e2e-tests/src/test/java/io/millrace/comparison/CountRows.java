// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;

/** Adds the results up, of a changelog too, and drops them. */
final class CountRows extends AbstractStreamOperator<Void>
    implements OneInputStreamOperator<RowData, Void> {
  private static final long serialVersionUID = 1L;

  private final transient Totals totals = new Totals();

  CountRows(StreamOperatorParameters<Void> parameters) {
    super(parameters);
  }

  @Override
  public void processElement(StreamRecord<RowData> element) {
    RowData row = element.getValue();
    RowKind kind = row.getRowKind();
    boolean isAdded = kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER;
    totals.add(isAdded ? 1 : -1, row.getLong(1), row.getLong(2));
  }

  @Override
  public void finish() throws Exception {
    totals.report(getRuntimeContext());
    super.finish();
  }
}
