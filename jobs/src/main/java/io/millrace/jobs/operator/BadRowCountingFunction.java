// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.operator;

import io.millrace.connectors.files.MalformedLine;
import java.util.List;
import java.util.Locale;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Passes bad rows on and counts them in an accumulator, which starts at zero with the job; its
 * state counts over restarts too, and fails the job without a restart when there are too many.
 */
@Internal
public final class BadRowCountingFunction extends ProcessFunction<MalformedLine, MalformedLine>
    implements CheckpointedFunction {
  /** The accumulator's name. */
  public static final String BAD_ROWS = "bad rows";

  private static final long serialVersionUID = 1L;

  private final long maximum;
  private final LongCounter badRows = new LongCounter();
  private transient ListState<Long> state;
  private long count;

  public BadRowCountingFunction(long maximum) {
    this.maximum = maximum;
  }

  @Override
  public void initializeState(FunctionInitializationContext context) throws Exception {
    state =
        context
            .getOperatorStateStore()
            .getListState(new ListStateDescriptor<>("bad-rows", Types.LONG));
    for (long before : state.get()) {
      count += before;
    }
  }

  @Override
  public void open(OpenContext context) {
    getRuntimeContext().addAccumulator(BAD_ROWS, badRows);
  }

  @Override
  public void processElement(MalformedLine line, Context context, Collector<MalformedLine> out) {
    badRows.add(1);
    count++;
    if (count > maximum) {
      throw new SuppressRestartsException(
          new TooManyBadRowsException(
              String.format(
                  Locale.ROOT,
                  "there are more than %,d bad rows (bad-rows.max); the last one is %s",
                  maximum,
                  line.message())));
    }
    out.collect(line);
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) throws Exception {
    state.update(List.of(count));
  }
}
