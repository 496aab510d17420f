// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql.loader;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.sql.table.SqlOptions;
import io.millrace.sql.NexmarkQueries;
import io.millrace.sql.NexmarkTables.Content;
import java.util.List;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Plans and runs queries over batches, and prints their plans and the numbers of their changes, of
 * a query into files those that are read of the files.
 */
final class PlannerLoaderProgram {
  private static final int BIDS = 5_000;

  private PlannerLoaderProgram() {}

  /** Takes the folder of the files. */
  public static void main(String[] arguments) throws Exception {
    TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
    tables.getConfig().set(SqlOptions.MODE, SqlMode.ON);
    tables.executeSql(Content.BID_BATCHES.createTable("bid", BIDS));
    NexmarkQueries.FUNCTIONS.forEach(tables::executeSql);
    tables.executeSql(
        "CREATE TEMPORARY TABLE kept (auction BIGINT, price BIGINT) WITH ('connector' = 'millrace-filesystem', 'path' = '"
            + arguments[0]
            + "', 'format' = 'json')");
    String insert = "INSERT INTO kept " + NexmarkQueries.sql("q2");
    System.out.println(tables.explainSql(insert));
    tables.executeSql(insert).await();
    System.out.println("q2 rows: " + rows(tables.executeSql("SELECT * FROM kept")));
    for (String name : List.of("q14", "q14OnDevice")) {
      String query = NexmarkQueries.sql(name);
      System.out.println(tables.explainSql(query));
      System.out.println(name + " rows: " + rows(tables.executeSql(query)));
    }
  }

  @SuppressWarnings("try") // closing a result may be interrupted
  private static long rows(TableResult result) throws Exception {
    long rows = 0;
    try (CloseableIterator<Row> changes = result.collect()) {
      for (; changes.hasNext(); changes.next()) {
        rows++;
      }
    }
    return rows;
  }
}
