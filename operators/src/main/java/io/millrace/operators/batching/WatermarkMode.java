// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import org.apache.flink.annotation.PublicEvolving;

/** The effect of a watermark on the rows that wait in an unfinished batch. */
@PublicEvolving
public enum WatermarkMode {
  /**
   * The watermark closes the batch: the rows before it leave first, then the watermark, at once.
   * Rows and watermarks keep their order exactly, so late rows are late just as without batching.
   */
  FLUSH,
  /**
   * The watermark waits until its batch is closed for another reason, at most the {@linkplain
   * BatchOptions#latency latency}; of several only the last is sent. Batches outgrow the interval
   * of watermarks, and rows that came after a watermark may leave before it, so that fewer of them
   * are late. No row is late that would not have been.
   */
  HOLD
}
