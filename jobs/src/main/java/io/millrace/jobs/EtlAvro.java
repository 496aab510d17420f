// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.millrace.column.Schema;
import io.millrace.connectors.avro.AvroRecordFormat;
import io.millrace.connectors.avro.SchemaRegistry;
import io.millrace.connectors.kafka.sink.AvroRecordEncoder;
import io.millrace.connectors.postgres.PasswordSupplier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;

/** The settings of records of Avro in topics, and what reads and writes them. */
final class EtlAvro {
  /** The settings of a registry of schemas. */
  private record RegistryOptions(
      ConfigOption<String> address,
      ConfigOption<String> user,
      ConfigOption<String> passwordVariable) {
    static RegistryOptions under(String prefix) {
      return new RegistryOptions(
          key(prefix + ".avro.registry")
              .stringType()
              .noDefaultValue()
              .withDescription(
                  "Address of a registry of schemas, such as http://host:8081; records have ids of"
                      + " its schemas."),
          key(prefix + ".avro.registry-user")
              .stringType()
              .noDefaultValue()
              .withDescription("User of the registry; no credentials if not given."),
          key(prefix + ".avro.registry-password-variable")
              .stringType()
              .defaultValue("SCHEMA_REGISTRY_PASSWORD")
              .withDescription(
                  "Environment variable with the password, in the processes that run the job."));
    }

    List<ConfigOption<?>> all() {
      return List.of(address, user, passwordVariable);
    }

    Optional<SchemaRegistry> registry(Configuration settings) {
      try {
        Optional<SchemaRegistry> registry = settings.getOptional(address).map(SchemaRegistry::at);
        Optional<String> name = settings.getOptional(user);
        if (name.isEmpty()) {
          return registry;
        }
        PasswordSupplier password =
            PasswordSupplier.fromEnvironment(settings.get(passwordVariable));
        return registry.map(open -> open.withCredentials(name.get(), password::get));
      } catch (IllegalArgumentException e) {
        throw new UsageException(address.key() + ": " + e.getMessage());
      }
    }
  }

  private static final RegistryOptions SOURCE_REGISTRY = RegistryOptions.under("source");
  private static final RegistryOptions SINK_REGISTRY = RegistryOptions.under("sink");

  private static final ConfigOption<String> SOURCE_SCHEMA =
      key("source.avro.schema")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Schema that the records were written with, or a file with it, where there is no"
                  + " registry.");

  /** The settings of a source. */
  static final List<ConfigOption<?>> OF_SOURCE =
      List.of(
          SOURCE_SCHEMA,
          SOURCE_REGISTRY.address(),
          SOURCE_REGISTRY.user(),
          SOURCE_REGISTRY.passwordVariable());

  /** The settings of a sink. */
  static final List<ConfigOption<?>> OF_SINK = SINK_REGISTRY.all();

  private EtlAvro() {}

  /**
   * Records of a source.
   *
   * @throws UsageException if a setting is missing or wrong
   * @throws IllegalArgumentException if the columns cannot be read
   */
  static AvroRecordFormat format(Configuration settings, Schema columns) {
    Optional<SchemaRegistry> registry = SOURCE_REGISTRY.registry(settings);
    Optional<String> schema = settings.getOptional(SOURCE_SCHEMA);
    if (registry.isPresent() == schema.isPresent()) {
      throw new UsageException(
          "expected either "
              + SOURCE_REGISTRY.address().key()
              + " or "
              + SOURCE_SCHEMA.key()
              + " for records of Avro, got "
              + (schema.isPresent() ? "both" : "neither"));
    }
    return registry.isPresent()
        ? AvroRecordFormat.of(columns, registry.get())
        : AvroRecordFormat.of(columns, text(schema.get()));
  }

  private static String text(String schema) {
    if (schema.stripLeading().startsWith("{") || schema.stripLeading().startsWith("[")) {
      return schema;
    }
    try {
      return Files.readString(Path.of(schema));
    } catch (IOException e) {
      throw new UsageException(SOURCE_SCHEMA.key() + ": the file cannot be read: " + e);
    }
  }

  /**
   * Records of a sink.
   *
   * @throws UsageException if a setting is wrong, or the columns cannot be written
   */
  static AvroRecordEncoder encoder(Configuration settings, Schema columns, String topic) {
    AvroRecordEncoder encoder;
    try {
      encoder = AvroRecordEncoder.of(columns);
    } catch (IllegalArgumentException e) {
      throw new UsageException(EtlKafkaSink.FORMAT.key() + ": " + e.getMessage());
    }
    return SINK_REGISTRY
        .registry(settings)
        .map(registry -> encoder.withRegistry(registry, topic))
        .orElse(encoder);
  }
}
