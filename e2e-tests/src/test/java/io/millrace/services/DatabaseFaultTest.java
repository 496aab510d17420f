// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A database that is paused or killed loses nothing that was committed or prepared. */
class DatabaseFaultTest {
  private static final int PAUSE_SECONDS = 3;

  private static Database database;

  @BeforeAll
  static void start() throws Exception {
    database = Services.startDatabase();
  }

  @AfterAll
  static void stop() throws Exception {
    if (database != null) {
      database.close();
    }
  }

  @Test
  void preparedTransactionOutlivesKill() throws Exception {
    try (Connection autoCommit = database.connect();
        Connection prepared = database.connect();
        Connection open = database.connect()) {
      execute(autoCommit, "CREATE TABLE killed (name TEXT)");
      execute(autoCommit, "INSERT INTO killed VALUES ('committed')");
      execute(prepared, "BEGIN");
      execute(prepared, "INSERT INTO killed VALUES ('prepared')");
      execute(prepared, "PREPARE TRANSACTION 'checkpoint 7'");
      execute(open, "BEGIN");
      execute(open, "INSERT INTO killed VALUES ('open')");

      database.kill();
      assertThatThrownBy(() -> execute(open, "COMMIT")).isInstanceOf(SQLException.class);
      assertThatThrownBy(() -> database.connect().close()).isInstanceOf(SQLException.class);
    }
    database.start();

    try (Connection connection = database.connect()) {
      assertThat(strings(connection, "SELECT name FROM killed")).containsExactly("committed");
      assertThat(strings(connection, "SELECT gid FROM pg_prepared_xacts"))
          .containsExactly("checkpoint 7");
      execute(connection, "COMMIT PREPARED 'checkpoint 7'");
      assertThat(strings(connection, "SELECT name FROM killed ORDER BY name"))
          .containsExactly("committed", "prepared");
    }
  }

  @Test
  void statementOutlivesPause() throws Exception {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try (Connection connection = database.connect()) {
      execute(connection, "CREATE TABLE paused (name TEXT)");

      database.pause();
      Future<?> insert =
          executor.submit(
              () -> {
                execute(connection, "INSERT INTO paused VALUES ('meanwhile')");
                return null;
              });
      assertThatThrownBy(() -> insert.get(PAUSE_SECONDS, TimeUnit.SECONDS))
          .isInstanceOf(TimeoutException.class);
      database.resume();

      insert.get();
      assertThat(strings(connection, "SELECT name FROM paused")).containsExactly("meanwhile");
    } finally {
      executor.shutdownNow();
    }
  }

  @Test
  void pausedDatabaseCanBeKilled() throws Exception {
    database.pause();
    database.kill();
    database.start();
    try (Connection connection = database.connect()) {
      assertThat(strings(connection, "SELECT 'answers'")).containsExactly("answers");
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static List<String> strings(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<String> strings = new ArrayList<>();
      while (rows.next()) {
        strings.add(rows.getString(1));
      }
      return strings;
    }
  }
}
