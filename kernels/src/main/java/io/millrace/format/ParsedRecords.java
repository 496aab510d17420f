// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Table;
import java.util.List;

/**
 * Rows that were read from records, in the order of the records, and the records that are no rows.
 * Its holder closes the table.
 *
 * @param malformed in the order of the records
 * @param records the record of each row; empty if each record is a row
 */
@PublicEvolving
public record ParsedRecords(Table table, List<MalformedRecord> malformed, int[] records)
    implements AutoCloseable {

  /** The number of the record that a row was read from. */
  public int recordOf(int row) {
    return records.length == 0 ? row : records[row];
  }

  @Override
  public void close() {
    table.close();
  }
}
