// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import java.util.List;

/**
 * What became of a record.
 *
 * @param rows the values of each row, in the form of {@link io.millrace.testing.TableRows}
 * @param fault why the record is malformed; empty if it is not
 */
record RecordResult(List<List<Object>> rows, String fault) {
  static RecordResult malformed(String reason) {
    return new RecordResult(List.of(), reason);
  }

  static RecordResult of(List<List<Object>> rows) {
    return new RecordResult(rows, "");
  }
}
