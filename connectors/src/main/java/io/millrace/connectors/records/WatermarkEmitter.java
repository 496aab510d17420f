// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/** Sends watermarks of increasing times, and whether there will be any, to an operator's output. */
final class WatermarkEmitter implements WatermarkOutput {
  private final Output<?> output;
  private long last = Long.MIN_VALUE;
  private boolean idle;

  WatermarkEmitter(Output<?> output) {
    this.output = output;
  }

  @Override
  public void emitWatermark(org.apache.flink.api.common.eventtime.Watermark watermark) {
    if (watermark.getTimestamp() > last) {
      markActive();
      last = watermark.getTimestamp();
      output.emitWatermark(new Watermark(last));
    }
  }

  @Override
  public void markIdle() {
    if (!idle) {
      idle = true;
      output.emitWatermarkStatus(WatermarkStatus.IDLE);
    }
  }

  @Override
  public void markActive() {
    if (idle) {
      idle = false;
      output.emitWatermarkStatus(WatermarkStatus.ACTIVE);
    }
  }
}
