// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.testing.OperatorHarness;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.testing.DeviceExtension;
import org.apache.flink.runtime.metrics.groups.TaskIOMetricGroup;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** An operator of SQL jobs, whose clock and watermarks the test sets. */
final class RuntimeHarness extends OperatorHarness {
  RuntimeHarness(
      DeviceExtension device,
      Schema schema,
      OperatorFactory<ColumnBatch, ColumnBatch> factory,
      long watermarkInterval)
      throws Exception {
    super(
        device,
        schema,
        new OneInputStreamOperatorTestHarness<>(
            factory, new ColumnBatchSerializer(schema, BodyCodec.RAW)));
    harness().getExecutionConfig().setAutoWatermarkInterval(watermarkInterval);
    harness().open();
  }

  void setTime(long millis) throws Exception {
    harness().setProcessingTime(millis);
  }

  void send(Watermark watermark) throws Exception {
    harness().processWatermark(watermark);
  }

  void send(WatermarkStatus status) throws Exception {
    harness().processWatermarkStatus(status);
  }

  void beginBackPressure() {
    ioMetrics().getHardBackPressuredTimePerSecond().markStart();
  }

  void endBackPressure() {
    ioMetrics().getHardBackPressuredTimePerSecond().markEnd();
  }

  private TaskIOMetricGroup ioMetrics() {
    return harness().getEnvironment().getMetricGroup().getIOMetricGroup();
  }

  void finish() throws Exception {
    harness().getOneInputOperator().finish();
  }
}
