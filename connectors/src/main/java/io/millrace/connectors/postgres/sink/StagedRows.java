// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import java.util.List;

/**
 * What a writer hands over at a checkpoint: a table of rows to bring into the target, and tables
 * that no checkpoint has, which can go when this checkpoint is complete.
 *
 * @param writer the name of the writer
 * @param sequence the number of the table among the writer's; {@link #NO_ROWS} if there is none
 * @param leftovers names of tables in the staging schema
 */
record StagedRows(String writer, long sequence, List<String> leftovers) {
  static final long NO_ROWS = -1;

  StagedRows {
    leftovers = List.copyOf(leftovers);
  }

  boolean hasRows() {
    return sequence != NO_ROWS;
  }
}
