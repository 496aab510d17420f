// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import org.apache.flink.annotation.PublicEvolving;

/** What becomes of a record without a value, which deletes its key in a compacted topic. */
@PublicEvolving
public enum TombstonePolicy {
  /** It is skipped without a trace. */
  SKIP,
  /** It is a malformed record. */
  MALFORMED
}
