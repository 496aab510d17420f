// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.operator;

import io.millrace.connectors.files.MalformedLine;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;

/** Passes on rows that an expression failed for, and counts them in an accumulator. */
@Internal
public final class FailedRowCountingFunction extends RichMapFunction<MalformedLine, MalformedLine> {
  /** The accumulator's name: of bad rows that were parsed, and so are counted in the rows in. */
  public static final String FAILED_ROWS = "failed rows";

  private static final long serialVersionUID = 1L;

  private final LongCounter rows = new LongCounter();

  @Override
  public void open(OpenContext context) {
    getRuntimeContext().addAccumulator(FAILED_ROWS, rows);
  }

  @Override
  public MalformedLine map(MalformedLine line) {
    rows.add(1);
    return line;
  }
}
