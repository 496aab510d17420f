// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import org.apache.flink.annotation.PublicEvolving;

/** The events of a stream that must not overtake the rows before them. */
@PublicEvolving
public enum ControlEvent {
  /** A watermark, also a generalized one. */
  WATERMARK,
  /** A change of the stream between idle and active. */
  WATERMARK_STATUS,
  RECORD_ATTRIBUTES,
  /** The barrier of a checkpoint or savepoint. */
  BARRIER,
  END_OF_INPUT
}
