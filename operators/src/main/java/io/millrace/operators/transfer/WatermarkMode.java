// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import org.apache.flink.annotation.PublicEvolving;

/** The effect of a watermark on the rows of a batch that an operator has not sent yet. */
@PublicEvolving
public enum WatermarkMode {
  /**
   * The watermark closes the open batch: first the rows that arrived before the watermark are sent,
   * then the watermark, without delay. Rows and watermarks keep their order, so the same rows are
   * late as without batching.
   */
  FLUSH,
  /**
   * The watermark waits until the open batch is closed for another reason, at most as long as the
   * batch's first row. If several watermarks wait, only the last is sent. Batches may be longer
   * than the interval between watermarks. Rows that arrived after a watermark may be sent before
   * it, so fewer rows are late; a row that is in time without batching is in time here, too.
   */
  HOLD
}
