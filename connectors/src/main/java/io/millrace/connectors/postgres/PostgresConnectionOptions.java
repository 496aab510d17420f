// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres;

import java.io.Serializable;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.flink.annotation.PublicEvolving;
import org.postgresql.Driver;
import org.postgresql.PGProperty;

/** How to connect to a database. Immutable; holds no password and shows none. */
@PublicEvolving
public final class PostgresConnectionOptions implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String SCHEME = "jdbc:postgresql:";
  private static final Pattern SECRET_PARAMETER =
      Pattern.compile("[?&](user|[^=&]*password)=", Pattern.CASE_INSENSITIVE);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  // Shorter than the three minutes after which Flink ends a process whose task does not end.
  private static final Duration SOCKET_TIMEOUT = Duration.ofMinutes(2);

  private final String url;
  private final String user;
  private final PasswordSupplier password;
  private final Duration socketTimeout;

  private PostgresConnectionOptions(
      String url, String user, PasswordSupplier password, Duration socketTimeout) {
    this.url = url;
    this.user = user;
    this.password = password;
    this.socketTimeout = socketTimeout;
  }

  /**
   * Options with a socket timeout of two minutes.
   *
   * @param url such as {@code jdbc:postgresql://host:5432/database?sslmode=verify-full}
   * @throws IllegalArgumentException if {@code url} is for another driver, or has a user or a
   *     password in it; the message does not repeat it
   */
  public static PostgresConnectionOptions of(String url, String user, PasswordSupplier password) {
    Objects.requireNonNull(user, "user is null");
    Objects.requireNonNull(password, "password is null");
    if (!url.startsWith(SCHEME)) {
      throw new IllegalArgumentException("the URL does not begin with " + SCHEME);
    }
    if (url.contains("@") || SECRET_PARAMETER.matcher(url).find()) {
      throw new IllegalArgumentException("the URL has a user or a password; give them separately");
    }
    // Not earlier: the driver writes what it does not understand to its log.
    if (Driver.parseURL(url, new Properties()) == null) {
      throw new IllegalArgumentException(
          "the URL is malformed; it should be like " + SCHEME + "//host:5432/database");
    }
    return new PostgresConnectionOptions(url, user, password, SOCKET_TIMEOUT);
  }

  /**
   * These options with another time after which a connection fails whose server does not answer. A
   * canceled task waits so long for a server that hangs.
   */
  public PostgresConnectionOptions withSocketTimeout(Duration timeout) {
    if (timeout.toSeconds() < 1) {
      throw new IllegalArgumentException("expected a timeout of 1 s or more, got " + timeout);
    }
    return new PostgresConnectionOptions(url, user, password, timeout);
  }

  /**
   * A new connection, in auto-commit mode, which the caller closes.
   *
   * @param applicationName what the database shows as the connection's application
   */
  Connection connect(String applicationName) throws SQLException {
    Properties properties = new Properties();
    PGProperty.USER.set(properties, user);
    PGProperty.PASSWORD.set(properties, password.get());
    PGProperty.APPLICATION_NAME.set(properties, applicationName);
    PGProperty.TCP_KEEP_ALIVE.set(properties, true);
    PGProperty.CONNECT_TIMEOUT.set(properties, (int) CONNECT_TIMEOUT.toSeconds());
    PGProperty.SOCKET_TIMEOUT.set(properties, (int) socketTimeout.toSeconds());
    return new Driver().connect(url, properties);
  }

  /** Whether all is equal but the password, which is not compared. */
  @Override
  public boolean equals(Object other) {
    return other instanceof PostgresConnectionOptions options
        && url.equals(options.url)
        && user.equals(options.user)
        && socketTimeout.equals(options.socketTimeout);
  }

  @Override
  public int hashCode() {
    return Objects.hash(url, user, socketTimeout);
  }

  /** The address and the user, without parameters of the URL. */
  @Override
  public String toString() {
    int parameters = url.indexOf('?');
    return (parameters < 0 ? url : url.substring(0, parameters)) + " as " + user;
  }
}
