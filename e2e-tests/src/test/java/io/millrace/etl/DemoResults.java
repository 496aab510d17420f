// SPDX-License-Identifier: Apache-2.0
package io.millrace.etl;

import io.millrace.postgres.Sql;
import io.millrace.process.CommittedFiles;
import io.millrace.services.Database;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

/** What the sinks of {@link EtlDemo} hold, as a page of text. */
final class DemoResults {
  private static final String CLEAR = "\033[H\033[J";
  private static final int DEAREST = 8;

  private final Sql sql;
  private final Path files;

  private DemoResults(Sql sql, Path files) {
    this.sql = sql;
    this.files = files;
  }

  /** Creates the table of windows. */
  static DemoResults create(Database database, Path files) throws SQLException {
    Sql sql = new Sql(database);
    sql.execute(
        "CREATE TABLE bid_windows (auction bigint NOT NULL, bids bigint NOT NULL, highest bigint,"
            + " total bigint, window_start timestamp(3) NOT NULL, window_end timestamp(3) NOT"
            + " NULL, PRIMARY KEY (auction, window_start))");
    return new DemoResults(sql, files);
  }

  /**
   * What has arrived.
   *
   * @param isPage whether the page takes the place of the one before it
   */
  String page(long second, long bidsSent, long inKafka, boolean isPage)
      throws SQLException, IOException {
    StringBuilder page = new StringBuilder(isPage ? CLEAR : "");
    page.append(
        String.format(
            Locale.ROOT,
            "%4d s  bids sent %,d; windows in Kafka %,d, in PostgreSQL %,d; Parquet files %,d%n",
            second,
            bidsSent,
            inKafka,
            inPostgres(),
            CommittedFiles.in(files).size()));
    List<String> dearest = dearest();
    if (!dearest.isEmpty()) {
      page.append("        the newest window  auction    bids  highest     total\n");
      dearest.forEach(line -> page.append("        ").append(line).append('\n'));
    }
    return page.toString();
  }

  /** How many windows PostgreSQL has. */
  long inPostgres() throws SQLException {
    return sql.number("SELECT count(*) FROM bid_windows");
  }

  private List<String> dearest() throws SQLException {
    return sql.strings(
        "SELECT to_char(window_start, 'HH24:MI:SS') || ' ' || to_char(window_end, 'HH24:MI:SS')"
            + " || to_char(auction, '99999999') || to_char(bids, '9999999')"
            + " || to_char(highest, '99999999') || to_char(total, '999999999')"
            + " FROM bid_windows WHERE window_start = (SELECT max(window_start) FROM bid_windows)"
            + " ORDER BY total DESC, auction LIMIT "
            + DEAREST);
  }
}
