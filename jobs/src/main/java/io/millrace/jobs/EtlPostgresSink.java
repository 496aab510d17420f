// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.millrace.column.Schema;
import io.millrace.connectors.postgres.PasswordSupplier;
import io.millrace.connectors.postgres.PostgresConnectionOptions;
import io.millrace.connectors.postgres.sink.PostgresSinkOptions;
import io.millrace.connectors.postgres.sink.PostgresSinks;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.sql.SchemaParser;
import java.util.List;
import java.util.Locale;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;

/** The settings of a sink that writes a table of PostgreSQL, and the sink. */
final class EtlPostgresSink {
  static final ConfigOption<String> URL =
      key("sink.postgres.url")
          .stringType()
          .noDefaultValue()
          .withDescription("The database: jdbc:postgresql://host:5432/database.");
  static final ConfigOption<String> USER =
      key("sink.postgres.user").stringType().noDefaultValue().withDescription("The user.");
  static final ConfigOption<String> PASSWORD_VARIABLE =
      key("sink.postgres.password-variable")
          .stringType()
          .defaultValue("PGPASSWORD")
          .withDescription(
              "Environment variable with the password, in the processes that run the job.");
  static final ConfigOption<String> TABLE =
      key("sink.postgres.table")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "The table, 'schema.name' or a name in the schema public; its columns have the names"
                  + " of those that are written.");
  static final ConfigOption<String> KEY =
      key("sink.postgres.key")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Columns whose values identify a row, which replaces the row before; rows are only"
                  + " added if not given.");
  static final ConfigOption<DeliveryGuarantee> GUARANTEE =
      key("sink.postgres.guarantee")
          .enumType(DeliveryGuarantee.class)
          .defaultValue(DeliveryGuarantee.EXACTLY_ONCE)
          .withDescription(
              "exactly-once: rows are committed by checkpoints; or at-least-once, with a key: they"
                  + " appear at once, and again after a failure.");
  static final ConfigOption<String> ID =
      key("sink.postgres.id")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Name of the sink in the database, which no other job has at the same time; the"
                  + " table's name if not given.");

  static final List<ConfigOption<?>> ALL =
      List.of(URL, USER, PASSWORD_VARIABLE, TABLE, KEY, GUARANTEE, ID);

  private static final String DEFAULT_SCHEMA = "public";
  private static final int MAX_ID_LENGTH = 24;

  private EtlPostgresSink() {}

  /**
   * Checks the settings before there is a stream.
   *
   * @throws UsageException naming the first setting that is missing or wrong
   */
  static void check(Configuration settings) {
    for (ConfigOption<String> option : List.of(URL, USER, TABLE)) {
      EtlOptions.required(settings, option, "writing a table of PostgreSQL");
    }
    options(settings);
  }

  /**
   * Checks that the columns of the key are written.
   *
   * @throws UsageException if one of them is not
   */
  static void checkColumns(Configuration settings, Schema written) {
    EtlKafkaSink.checkColumns(settings, KEY, written);
  }

  private static PostgresSinkOptions options(Configuration settings) {
    List<String> table = SchemaParser.parseNames(settings.get(TABLE).replace('.', ','));
    if (table.size() > 2) {
      throw new UsageException(
          TABLE.key() + ": expected 'schema.name', got '" + settings.get(TABLE) + "'");
    }
    String schema = table.size() == 2 ? table.get(0) : DEFAULT_SCHEMA;
    String name = table.get(table.size() - 1);
    try {
      return PostgresSinkOptions.builder()
          .connection(
              PostgresConnectionOptions.of(
                  settings.get(URL),
                  settings.get(USER),
                  PasswordSupplier.fromEnvironment(settings.get(PASSWORD_VARIABLE))))
          .table(schema, name)
          .keys(EtlOptions.names(settings, KEY).toArray(String[]::new))
          .guarantee(settings.get(GUARANTEE))
          .sinkId(settings.getOptional(ID).orElseGet(() -> id(schema, name)))
          .build();
    } catch (IllegalArgumentException e) {
      throw new UsageException("sink.postgres: " + e.getMessage());
    }
  }

  /**
   * The name of a table as the sink's name. One that does not tell the table from all others has a
   * hash behind it: jobs with one name would drop each other's staged rows.
   */
  static String id(String schema, String table) {
    String id = "t_" + table.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_]", "_");
    boolean tells =
        schema.equals(DEFAULT_SCHEMA) && id.equals("t_" + table) && id.length() <= MAX_ID_LENGTH;
    if (tells) {
      return id;
    }
    String hash = "_%08x".formatted((schema + "." + table).hashCode());
    return id.substring(0, Math.min(MAX_ID_LENGTH - hash.length(), id.length())) + hash;
  }

  /**
   * Writes the stream to the table.
   *
   * @throws UsageException if a column has no form there
   */
  static void write(ColumnStream stream, Configuration settings) {
    try {
      PostgresSinks.write(stream.toBatches(), stream.schema(), options(settings))
          .uid("postgres-sink");
    } catch (IllegalArgumentException e) {
      throw new UsageException("sink.postgres: " + e.getMessage());
    }
  }
}
