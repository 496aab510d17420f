// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A batch of numbers becomes rows while its task is canceled. */
class RowGeneratingOperatorTest {
  private static final int ROWS_PER_BATCH = 1 << 16;

  private static final AtomicInteger ROWS = new AtomicInteger();

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final class SlowConsumer implements MapFunction<RowData, RowData> {
    private static final long serialVersionUID = 1L;
    private static final long NANOS_PER_ROW = TimeUnit.MILLISECONDS.toNanos(1);

    @Override
    public RowData map(RowData row) {
      long until = System.nanoTime() + NANOS_PER_ROW;
      // Not to be interrupted, as work is not.
      for (long left = NANOS_PER_ROW; left > 0; left = until - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      ROWS.incrementAndGet();
      return row;
    }
  }

  @Test
  void theRestOfABatchDoesNotLeaveWhenTheTaskIsCanceled() throws Exception {
    ROWS.set(0);
    StreamExecutionEnvironment environment = flink.environment(1);
    SingleOutputStreamOperator<RowData> rows =
        NexmarkStreams.bidRows(
            environment, NexmarkOptions.of(NexmarkOptions.UNBOUNDED).withBatchRows(ROWS_PER_BATCH));
    rows.map(new SlowConsumer()).returns(rows.getType()).sinkTo(new DiscardingSink<>());
    FlinkJob job = flink.submit(environment);
    job.awaitUntil(() -> ROWS.get() > 0);
    job.cancel();
    assertThat(ROWS.get()).isLessThan(ROWS_PER_BATCH / 2);
  }
}
