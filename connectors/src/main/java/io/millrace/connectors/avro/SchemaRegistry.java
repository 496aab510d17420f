// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.avro;

import java.io.Serializable;
import java.net.URI;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.util.function.SerializableSupplier;

/**
 * Where a registry of schemas is, with the interface of Confluent's, and who asks it. Immutable;
 * holds no password and shows none.
 */
@PublicEvolving
public final class SchemaRegistry implements Serializable {
  private static final long serialVersionUID = 1L;

  private final URI address;
  // null without credentials, as the password.
  private final String user;
  private final SerializableSupplier<String> password;

  private SchemaRegistry(URI address, String user, SerializableSupplier<String> password) {
    this.address = address;
    this.user = user;
    this.password = password;
  }

  /**
   * A registry that asks for no credentials.
   *
   * @param address such as {@code http://registry:8081}
   * @throws IllegalArgumentException if it is not an address of HTTP, or has credentials in it
   */
  public static SchemaRegistry at(String address) {
    URI uri;
    try {
      uri = URI.create(address.endsWith("/") ? address : address + "/");
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("expected the address of a registry over HTTP");
    }
    if (uri.getUserInfo() != null) {
      throw new IllegalArgumentException(
          "expected the address of a registry without credentials, which are given apart");
    }
    boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
    if (!isHttp || uri.getHost() == null || uri.getQuery() != null) {
      // Not shown: credentials are not always where a URI has them.
      throw new IllegalArgumentException(
          "expected the address of a registry over HTTP, such as http://registry:8081");
    }
    return new SchemaRegistry(uri, null, null);
  }

  /**
   * The same registry, with basic credentials.
   *
   * @param userPassword is called where a connection is made, in the processes of the cluster
   */
  public SchemaRegistry withCredentials(
      String userName, SerializableSupplier<String> userPassword) {
    return new SchemaRegistry(
        address,
        Objects.requireNonNull(userName, "userName is null"),
        Objects.requireNonNull(userPassword, "userPassword is null"));
  }

  /** The address, with a slash at its end. */
  URI address() {
    return address;
  }

  boolean hasCredentials() {
    return user != null;
  }

  String user() {
    return user;
  }

  String password() {
    return password.get();
  }

  /** The address. */
  @Override
  public String toString() {
    return address.toString();
  }
}
