// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.types.Row;

/** A watermark behind some rows, so that batches of these rows stay apart behind an exchange. */
final class WatermarkEvery implements WatermarkGenerator<Row> {
  private final int rowsPerWatermark;
  private long rows;

  private WatermarkEvery(int rowsPerWatermark) {
    this.rowsPerWatermark = rowsPerWatermark;
  }

  /** The stream with a watermark behind each {@code rowsPerWatermark} rows. */
  static DataStream<Row> appendTo(DataStream<Row> rows, int rowsPerWatermark) {
    return rows.assignTimestampsAndWatermarks(
            WatermarkStrategy.<Row>forGenerator(context -> new WatermarkEvery(rowsPerWatermark))
                .withTimestampAssigner((row, timestamp) -> 0))
        .setParallelism(rows.getParallelism());
  }

  @Override
  public void onEvent(Row row, long timestamp, WatermarkOutput output) {
    rows++;
    if (rows % rowsPerWatermark == 0) {
      output.emitWatermark(new Watermark(rows));
    }
  }

  @Override
  public void onPeriodicEmit(WatermarkOutput output) {
    // Only rows bring watermarks.
  }
}
