// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.net.URI;
import java.nio.file.Path;

/** What tests use servers of: its names, its version, and where it is. */
enum Product {
  KAFKA("Kafka", "kafka"),
  POSTGRES("PostgreSQL", "postgres");

  private final String title;
  private final String key;

  Product(String title, String key) {
    this.title = title;
    this.key = key;
  }

  /** The name in the names of files, images and system properties. */
  String key() {
    return key;
  }

  /** Name and version, for people. */
  String title() {
    return title + " " + version();
  }

  /** The image that {@code e2e-tests/containers/setup.sh} makes. */
  String image() {
    return "millrace/" + key + ":" + version();
  }

  private String version() {
    return required("millrace.services." + key + ".version");
  }

  /** The folder with what Maven has of it. */
  Path libraries() {
    return Path.of(required("millrace.services.lib"), key);
  }

  /** The folder for all that servers write as processes. */
  static Path folder() {
    return Path.of(required("millrace.services.folder"));
  }

  /** The script that starts a server, in the image and as a process. */
  Path script() {
    String name = "/services/start-" + key + ".sh";
    return Path.of(URI.create(Product.class.getResource(name).toString()));
  }

  private static String required(String property) {
    String value = System.getProperty(property);
    if (value == null) {
      throw new IllegalStateException(
          "system property " + property + " is not set: run by mvn verify");
    }
    return value;
  }
}
