// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.connectors.files.MalformedLine;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;

/** Passes on rows that an expression failed for, and counts them in an accumulator. */
final class FailedRowCountingFunction extends RichMapFunction<MalformedLine, MalformedLine> {
  private static final long serialVersionUID = 1L;

  private final LongCounter rows = new LongCounter();

  @Override
  public void open(OpenContext context) {
    getRuntimeContext().addAccumulator(EtlProgress.FAILED_ROWS, rows);
  }

  @Override
  public MalformedLine map(MalformedLine line) {
    rows.add(1);
    return line;
  }
}
