// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.sql.table.SqlOptions;
import io.millrace.sql.NexmarkTables.Content;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/** Plans and runs a query over batches, and prints its plan and the number of its changes. */
final class PlannerLoaderProgram {
  private static final int BIDS = 5_000;

  private PlannerLoaderProgram() {}

  /** Takes no arguments. */
  @SuppressWarnings("try") // closing a result may be interrupted
  public static void main(String[] arguments) throws Exception {
    TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
    tables.getConfig().set(SqlOptions.MODE, SqlMode.ON);
    tables.executeSql(Content.BID_BATCHES.createTable("bid", BIDS));
    String query = NexmarkQueries.sql("q2");
    System.out.println(tables.explainSql(query));
    long rows = 0;
    try (CloseableIterator<Row> changes = tables.executeSql(query).collect()) {
      for (; changes.hasNext(); changes.next()) {
        rows++;
      }
    }
    System.out.println("rows: " + rows);
  }
}
