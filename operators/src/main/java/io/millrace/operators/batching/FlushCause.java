// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import io.millrace.operators.context.SendPace;

/** Why a batch was closed. */
enum FlushCause {
  ROWS,
  /** Sending more rows would take too long: the consumer is slow. See {@link SendPace}. */
  PACE,
  BYTES,
  DEADLINE,
  WATERMARK,
  WATERMARK_STATUS,
  BARRIER,
  END_OF_INPUT,
  /** There was no memory for the next row beside the batch. */
  MEMORY
}
