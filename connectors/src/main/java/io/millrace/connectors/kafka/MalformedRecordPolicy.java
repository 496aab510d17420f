// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import org.apache.flink.annotation.PublicEvolving;

/** What becomes of a record that is not a row. */
@PublicEvolving
public enum MalformedRecordPolicy {
  /** It is counted and goes to {@link KafkaDecodingOperator#MALFORMED_RECORDS}. */
  SIDE_OUTPUT,
  /** The job fails with the record's topic, partition and offset. */
  FAIL
}
