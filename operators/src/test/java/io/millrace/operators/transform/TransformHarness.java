// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.testing.OperatorHarness;
import io.millrace.testing.DeviceExtension;
import org.apache.flink.streaming.api.watermark.Watermark;

/** A {@link TransformOperator} that gets batches and whose output is read as rows. */
final class TransformHarness extends OperatorHarness {
  /**
   * @param schema of the batches that are sent
   */
  TransformHarness(DeviceExtension device, Schema schema, TableTransform.Factory transforms)
      throws Exception {
    this(device, schema, TransformOperator.factory(transforms));
  }

  TransformHarness(
      DeviceExtension device, Schema schema, OperatorFactory<ColumnBatch, ColumnBatch> factory)
      throws Exception {
    super(device, schema, factory);
  }

  /** Sets the clock of the operator. */
  void setProcessingTime(long millis) throws Exception {
    harness().setProcessingTime(millis);
  }

  void watermark(long millis) throws Exception {
    harness().processWatermark(new Watermark(millis));
  }
}
