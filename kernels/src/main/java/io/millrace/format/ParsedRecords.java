// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Table;
import java.util.List;

/**
 * Rows that were read from records, in the order of the records, and the records that are not rows.
 * Its holder closes it once.
 */
@PublicEvolving
public final class ParsedRecords implements AutoCloseable {
  private final Table table;
  private final List<MalformedRecord> malformed;
  private final int[] records;

  /** Each record is a row. Takes ownership of the table. */
  public ParsedRecords(Table table) {
    this(table, List.of(), null);
  }

  /**
   * Takes ownership of the table.
   *
   * @param malformed in the order of the records
   * @param records the record of each row, which stay as they are; null if each record is a row
   */
  public ParsedRecords(Table table, List<MalformedRecord> malformed, int[] records) {
    this.table = table;
    this.malformed = List.copyOf(malformed);
    this.records = records;
  }

  /** The rows; closed with this. */
  public Table table() {
    return table;
  }

  /** Records that are not rows, in their order, without those that are blank. */
  public List<MalformedRecord> malformed() {
    return malformed;
  }

  /** The number of the record that a row was read from. */
  public int recordOf(int row) {
    return records == null ? row : records[row];
  }

  @Override
  public void close() {
    table.close();
  }
}
