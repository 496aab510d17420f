// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import java.util.List;
import java.util.Optional;

/**
 * Rows that were read from records, in the order of the records, and the records that are not rows.
 * Its holder closes it once.
 */
@PublicEvolving
public final class ParsedRecords implements AutoCloseable {
  private final Table table;
  private final List<MalformedRecord> malformed;
  private final int[] records;
  // null if the records were not filtered
  private final Table unfiltered;

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
    this(table, malformed, records, Optional.empty());
  }

  /**
   * Takes ownership of the tables.
   *
   * @param unfiltered as the method returns it
   */
  public ParsedRecords(
      Table table, List<MalformedRecord> malformed, int[] records, Optional<Table> unfiltered) {
    this.table = table;
    this.malformed = List.copyOf(malformed);
    this.records = records;
    this.unfiltered = unfiltered.orElse(null);
  }

  /** The rows; closed with this. */
  public Table table() {
    return table;
  }

  /**
   * The columns {@link RecordFilter#unfiltered} of all rows, with those that were dropped; closed
   * with this. Empty if the records were read without a filter.
   */
  public Optional<Table> unfiltered() {
    return Optional.ofNullable(unfiltered);
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
    FirstFailure failure = new FirstFailure();
    failure.run(table::close);
    if (unfiltered != null) {
      failure.run(unfiltered::close);
    }
    failure.rethrow();
  }
}
