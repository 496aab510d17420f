// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.sql.Timestamp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What tests rely on while a database runs. */
class DatabaseTest {
  private static final String NOTE = "\u0130stanbul, \u00fcber \ud83d\ude80";
  private static final BigDecimal PRICE = new BigDecimal("12345678901234567890.12");
  private static final Timestamp TIME = Timestamp.valueOf("2026-03-29 02:30:00.123456");

  @RegisterExtension static final SharedServices services = new SharedServices();

  @Test
  void rowsComeBackAsTheyWere() throws Exception {
    try (Connection connection = services.database().connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE bids (note TEXT, price DECIMAL(38, 2), ts TIMESTAMP)");
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO bids VALUES (?, ?, ?)")) {
        insert.setString(1, NOTE);
        insert.setBigDecimal(2, PRICE);
        insert.setTimestamp(3, TIME);
        assertThat(insert.executeUpdate()).isOne();
      }
      try (ResultSet rows = statement.executeQuery("SELECT note, price, ts FROM bids")) {
        assertThat(rows.next()).isTrue();
        assertThat(rows.getString(1)).isEqualTo(NOTE);
        assertThat(rows.getBigDecimal(2)).isEqualTo(PRICE);
        assertThat(rows.getTimestamp(3)).isEqualTo(TIME);
        assertThat(rows.next()).isFalse();
      }
    }
  }

  @Test
  void isOfTheVersionThatIsPrinted() throws Exception {
    try (Connection connection = services.database().connect()) {
      String version = connection.getMetaData().getDatabaseProductVersion();
      assertThat("PostgreSQL " + version).isEqualTo(Product.POSTGRES.title());
    }
  }

  @Test
  void listensOnLoopbackAddressOnly() {
    String url = services.database().jdbcUrl();
    assertThat(url).startsWith("jdbc:postgresql://127.0.0.1:");
    ListeningPort.of(url.substring(0, url.lastIndexOf('/'))).assertListensOnLoopbackOnly();
  }
}
