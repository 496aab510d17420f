// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateEncodingException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * A listener of a broker that takes one user, with SASL/PLAIN over TLS. Its certificate is its own
 * and of this test, for 127.0.0.1.
 */
public final class BrokerSecurity {
  static final String LISTENER = "SECURED";

  private static final String ALIAS = "broker";
  private static final String STORE_TYPE = "PKCS12";

  private final String user;
  private final String password;
  private final String privateKey;
  private final Certificate certificate;

  private BrokerSecurity(String user, String password, String privateKey, Certificate certificate) {
    this.user = user;
    this.password = password;
    this.privateKey = privateKey;
    this.certificate = certificate;
  }

  /**
   * Makes a certificate with the JDK's keytool.
   *
   * @param folder for its key store
   */
  public static BrokerSecurity create(Path folder, String user, String password) throws Exception {
    Path store = folder.resolve("broker.p12");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair",
            "-alias",
            ALIAS,
            "-keyalg",
            "EC",
            "-dname",
            "CN=broker",
            "-ext",
            "san=ip:127.0.0.1",
            "-validity",
            "2",
            "-storetype",
            STORE_TYPE,
            "-keystore",
            store.toString(),
            "-storepass",
            password);
    Path log = folder.resolve("keytool.out");
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    if (builder.redirectOutput(log.toFile()).start().waitFor() != 0) {
      throw new IOException("keytool failed: " + Files.readString(log));
    }
    return read(store, user, password);
  }

  private static BrokerSecurity read(Path file, String user, String password)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(STORE_TYPE);
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, password.toCharArray());
    }
    return new BrokerSecurity(
        user,
        password,
        pem("PRIVATE KEY", store.getKey(ALIAS, password.toCharArray()).getEncoded()),
        store.getCertificate(ALIAS));
  }

  // In one line, as the broker's options have it.
  private static String pem(String type, byte[] bytes) {
    String text = Base64.getEncoder().encodeToString(bytes);
    return "-----BEGIN " + type + "----- " + text + " -----END " + type + "-----";
  }

  private String certificatePem() {
    try {
      return pem("CERTIFICATE", certificate.getEncoded());
    } catch (CertificateEncodingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The broker's variables, as {@code start-kafka.sh} reads them. */
  Map<String, String> environment() {
    String prefix = "KAFKA_LISTENER_NAME_" + LISTENER + "_";
    return Map.of(
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP",
        "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT," + LISTENER + ":SASL_SSL",
        prefix + "SASL_ENABLED_MECHANISMS",
        "PLAIN",
        prefix + "PLAIN_SASL_JAAS_CONFIG",
        loginModule() + "user_" + user + "=\"" + password + "\";",
        prefix + "SSL_KEYSTORE_TYPE",
        "PEM",
        prefix + "SSL_KEYSTORE_KEY",
        privateKey,
        prefix + "SSL_KEYSTORE_CERTIFICATE_CHAIN",
        certificatePem());
  }

  private static String loginModule() {
    return "org.apache.kafka.common.security.plain.PlainLoginModule required ";
  }

  /** The properties of a client that gives this password. */
  public Properties clientProperties(String givenPassword) {
    Properties properties = saslProperties(givenPassword);
    properties.setProperty("ssl.truststore.type", "PEM");
    properties.setProperty("ssl.truststore.certificates", certificatePem());
    return properties;
  }

  /**
   * As {@link #clientProperties(String)}, with a trust store that has a password.
   *
   * @param trustStore of {@link #writeTrustStore}
   */
  public Properties clientProperties(
      String givenPassword, Path trustStore, String trustStorePassword) {
    Properties properties = saslProperties(givenPassword);
    properties.setProperty("ssl.truststore.type", STORE_TYPE);
    properties.setProperty("ssl.truststore.location", trustStore.toString());
    properties.setProperty("ssl.truststore.password", trustStorePassword);
    return properties;
  }

  /** Writes a trust store with the broker's certificate. */
  public void writeTrustStore(Path file, String storePassword)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(STORE_TYPE);
    store.load(null, null);
    store.setCertificateEntry(ALIAS, certificate);
    try (OutputStream out = Files.newOutputStream(file)) {
      store.store(out, storePassword.toCharArray());
    }
  }

  private Properties saslProperties(String givenPassword) {
    Properties properties = new Properties();
    properties.setProperty("security.protocol", "SASL_SSL");
    properties.setProperty("sasl.mechanism", "PLAIN");
    properties.setProperty(
        "sasl.jaas.config",
        loginModule() + "username=\"" + user + "\" password=\"" + givenPassword + "\";");
    return properties;
  }
}
