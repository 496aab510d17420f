// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.sql.table.SqlOptions;
import io.millrace.sql.NexmarkTables.Content;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Plans and runs a query over batches into files, and prints its plan and the number of rows that
 * are read of the files.
 */
final class PlannerLoaderProgram {
  private static final int BIDS = 5_000;

  private PlannerLoaderProgram() {}

  /** Takes the folder of the files. */
  @SuppressWarnings("try") // closing a result may be interrupted
  public static void main(String[] arguments) throws Exception {
    TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
    tables.getConfig().set(SqlOptions.MODE, SqlMode.ON);
    tables.executeSql(Content.BID_BATCHES.createTable("bid", BIDS));
    tables.executeSql(
        "CREATE TEMPORARY TABLE kept (auction BIGINT, price BIGINT) WITH ('connector' = 'millrace-filesystem', 'path' = '"
            + arguments[0]
            + "', 'format' = 'json')");
    String insert = "INSERT INTO kept " + NexmarkQueries.sql("q2");
    System.out.println(tables.explainSql(insert));
    tables.executeSql(insert).await();
    long rows = 0;
    try (CloseableIterator<Row> changes = tables.executeSql("SELECT * FROM kept").collect()) {
      for (; changes.hasNext(); changes.next()) {
        rows++;
      }
    }
    System.out.println("rows: " + rows);
  }
}
