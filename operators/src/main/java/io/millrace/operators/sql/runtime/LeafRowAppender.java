// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.column.RowTableBuilder;
import io.millrace.operators.row.RowAppender;
import io.millrace.operators.row.RowDataAppender;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.data.RowData;

/**
 * Appends some fields of rows, and of ROWs in them: only what a query reads becomes columns. A
 * field of a ROW that is null is null.
 */
@Internal
public final class LeafRowAppender implements RowAppender<RowData> {
  private final RowDataAppender appender;
  private final LeafRow leaves;

  private LeafRowAppender(RowTableBuilder table, List<LeafPath> paths) {
    this.appender = new RowDataAppender(table);
    this.leaves = new LeafRow(paths.toArray(LeafPath[]::new));
  }

  /**
   * A factory of appenders to tables that have a column for each path, and may have a row-kind
   * column behind.
   */
  public static RowAppender.Factory<RowData> factory(List<LeafPath> paths) {
    List<LeafPath> copy = List.copyOf(paths);
    return table -> new LeafRowAppender(table, copy);
  }

  @Override
  public void append(RowData row) {
    appender.append(leaves.of(row));
  }
}
