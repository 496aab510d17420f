// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import java.io.Serializable;
import java.util.List;

/**
 * What a reader puts into blocks.
 *
 * @param headers the names of headers whose values are kept
 * @param maximumRecordBytes records with a longer value are malformed
 * @param tombstones what becomes of records without a value
 */
record RecordBlockOptions(List<String> headers, int maximumRecordBytes, TombstonePolicy tombstones)
    implements Serializable {
  RecordBlockOptions {
    headers = List.copyOf(headers);
  }
}
