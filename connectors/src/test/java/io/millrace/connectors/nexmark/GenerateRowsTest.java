package io.millrace.connectors.nexmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.operators.batch.OperatorFactory;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;

class GenerateRowsTest {
  private static final int ROWS = 1_000;
  private static final long CANCELED_AT = 70;

  private OneInputStreamOperatorTestHarness<NumberBatch, RowData> harness;

  private RowData row(long event) {
    if (event == CANCELED_AT) {
      try {
        ((AbstractStreamOperator<?>) harness.getOneInputOperator()).getContainingTask().cancel();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
    return GenericRowData.of(event);
  }

  @Test
  void noFurtherRowsOfABatchLeaveWhenTheTaskIsCanceled() throws Exception {
    harness =
        new OneInputStreamOperatorTestHarness<>(
            new OperatorFactory<NumberBatch, RowData>(
                GenerateRows.class,
                parameters ->
                    new GenerateRows(
                        parameters,
                        NexmarkConfiguration.DEFAULT,
                        number -> number,
                        (generator, event) -> row(event))));
    try {
      harness.open();
      NumberBatch batch = new NumberBatch(InterleavedNumbers.of(0, 1, ROWS), ROWS);
      assertThatThrownBy(() -> harness.processElement(new StreamRecord<>(batch)))
          .isInstanceOf(CancelTaskException.class);
      assertThat(harness.getOutput()).hasSizeBetween((int) CANCELED_AT, (int) CANCELED_AT + 256);
    } finally {
      harness.close();
    }
  }
}
