package io.millrace.jobs;

import io.millrace.connectors.files.MalformedLine;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/** Passes rows that could not be parsed on, and counts them in an accumulator. */
final class CountBadRows extends ProcessFunction<MalformedLine, MalformedLine> {
  private static final long serialVersionUID = 1L;

  private final LongCounter badRows = new LongCounter();

  @Override
  public void open(OpenContext context) {
    getRuntimeContext().addAccumulator(EtlProgress.BAD_ROWS, badRows);
  }

  @Override
  public void processElement(MalformedLine line, Context context, Collector<MalformedLine> out) {
    badRows.add(1);
    out.collect(line);
  }
}
