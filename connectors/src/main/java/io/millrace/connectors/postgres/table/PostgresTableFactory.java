// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.table;

import io.millrace.column.Schema;
import io.millrace.connectors.postgres.PostgresConnectionOptions;
import io.millrace.connectors.postgres.sink.PostgresSinkOptions;
import io.millrace.connectors.postgres.source.PostgresSourceOptions;
import io.millrace.connectors.table.TableColumns;
import io.millrace.connectors.table.TableOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;

/**
 * The connector {@code millrace-postgres}: tables of PostgreSQL, which sources read as a snapshot,
 * and sinks add rows to or, with a primary key, replace rows in. Names of options are those of
 * Flink's connector {@code jdbc} where it has the option.
 */
@PublicEvolving
public final class PostgresTableFactory
    implements DynamicTableSourceFactory, DynamicTableSinkFactory {
  /** The name of the connector. */
  public static final String IDENTIFIER = "millrace-postgres";

  /** Where the database is. */
  public static final ConfigOption<String> URL =
      ConfigOptions.key("url")
          .stringType()
          .noDefaultValue()
          .withDescription("Such as jdbc:postgresql://host:5432/database, without credentials.");

  /** The table in the database. */
  public static final ConfigOption<String> TABLE_NAME =
      ConfigOptions.key("table-name")
          .stringType()
          .noDefaultValue()
          .withDescription("The table, as name or as schema.name; the schema is public otherwise.");

  /** Who connects. */
  public static final ConfigOption<String> USER =
      ConfigOptions.key("username").stringType().noDefaultValue().withDescription("Who connects.");

  /** The password of who connects. */
  public static final ConfigOption<String> PASSWORD =
      ConfigOptions.key("password")
          .stringType()
          .defaultValue("")
          .withDescription("The password of who connects.");

  /** The column by which a source reads. */
  public static final ConfigOption<String> SCAN_COLUMN =
      ConfigOptions.key("scan.partition.column")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "A column with a unique index and without nulls, by whose ranges a source reads; by"
                  + " default the only column of the primary key.");

  /** The number of ranges that a source reads. */
  public static final ConfigOption<Integer> SCAN_RANGES =
      ConfigOptions.key("scan.partition.num")
          .intType()
          .defaultValue(64)
          .withDescription("The most ranges.");

  /** When rows appear. */
  public static final ConfigOption<DeliveryGuarantee> GUARANTEE =
      ConfigOptions.key("sink.delivery-guarantee")
          .enumType(DeliveryGuarantee.class)
          .defaultValue(DeliveryGuarantee.EXACTLY_ONCE)
          .withDescription(
              "'exactly-once': rows appear when a checkpoint is complete. 'at-least-once', with a"
                  + " primary key: at once.");

  /** The name of the sink in the database. */
  public static final ConfigOption<String> SINK_ID =
      ConfigOptions.key("sink.id")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "The name of the sink in the database, for exactly-once: a small letter, and up to 23"
                  + " small letters, digits and underscores.");

  /** Where staged rows are. */
  public static final ConfigOption<String> STAGING_SCHEMA =
      ConfigOptions.key("sink.staging-schema")
          .stringType()
          .noDefaultValue()
          .withDescription("The schema for tables of staged rows; by default the table's.");

  private static final String PUBLIC_SCHEMA = "public";

  @Override
  public String factoryIdentifier() {
    return IDENTIFIER;
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(URL, TABLE_NAME, USER);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of(
        PASSWORD,
        SCAN_COLUMN,
        SCAN_RANGES,
        FactoryUtil.SOURCE_PARALLELISM,
        GUARANTEE,
        SINK_ID,
        STAGING_SCHEMA);
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    ReadableConfig options = options(context);
    Schema columns = TableColumns.physical(context);
    String key = options.getOptional(SCAN_COLUMN).orElseGet(() -> onlyKey(context, columns));
    String[] table = tableName(options);
    try {
      PostgresSourceOptions source =
          PostgresSourceOptions.of(connection(options), table[0], table[1], key)
              .withSplits(options.get(SCAN_RANGES));
      return new PostgresTableSource(
          columns, source, options.getOptional(FactoryUtil.SOURCE_PARALLELISM));
    } catch (IllegalArgumentException e) {
      throw new ValidationException(e.getMessage(), e);
    }
  }

  @Override
  public DynamicTableSink createDynamicTableSink(Context context) {
    ReadableConfig options = options(context);
    Schema columns = TableColumns.physical(context);
    String[] table = tableName(options);
    List<String> keys =
        Arrays.stream(context.getPrimaryKeyIndexes())
            .mapToObj(index -> columns.field(index).name())
            .toList();
    try {
      PostgresSinkOptions.Builder sink =
          PostgresSinkOptions.builder()
              .connection(connection(options))
              .table(table[0], table[1])
              .keys(keys.toArray(String[]::new))
              .guarantee(options.get(GUARANTEE));
      options.getOptional(SINK_ID).ifPresent(sink::sinkId);
      options.getOptional(STAGING_SCHEMA).ifPresent(sink::stagingSchema);
      return new PostgresTableSink(
          columns, sink.build(), !keys.isEmpty(), context.getConfiguration());
    } catch (IllegalArgumentException e) {
      throw new ValidationException(e.getMessage(), e);
    }
  }

  private ReadableConfig options(Context context) {
    TableOptions options = new TableOptions(this, context);
    options.validate();
    return options.options();
  }

  private static PostgresConnectionOptions connection(ReadableConfig options) {
    String password = options.get(PASSWORD);
    return PostgresConnectionOptions.of(options.get(URL), options.get(USER), () -> password);
  }

  /** The schema and the name. */
  private static String[] tableName(ReadableConfig options) {
    String name = options.get(TABLE_NAME);
    int dot = name.indexOf('.');
    return dot < 0
        ? new String[] {PUBLIC_SCHEMA, name}
        : new String[] {name.substring(0, dot), name.substring(dot + 1)};
  }

  private static String onlyKey(Context context, Schema columns) {
    int[] key = context.getPrimaryKeyIndexes();
    if (key.length != 1) {
      throw new ValidationException(
          "'%s' is required, unless the primary key is one column".formatted(SCAN_COLUMN.key()));
    }
    return columns.field(key[0]).name();
  }
}
