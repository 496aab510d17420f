// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import io.millrace.connectors.postgres.PostgresConnectionOptions;
import io.millrace.connectors.postgres.TableName;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.connector.base.DeliveryGuarantee;

/** Which table a sink writes to, and how. Immutable; shows no password. */
@PublicEvolving
public final class PostgresSinkOptions implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final Pattern SINK_ID = Pattern.compile("[a-z][a-z0-9_]{0,23}");

  private final PostgresConnectionOptions connection;
  private final TableName table;
  private final List<String> keys;
  private final DeliveryGuarantee guarantee;
  private final String sinkId;
  private final String stagingSchema;
  private final Duration retryTimeout;

  private PostgresSinkOptions(Builder builder) {
    this.connection = builder.connection;
    this.table = builder.table;
    this.keys = builder.keys;
    this.guarantee = builder.guarantee;
    this.sinkId = builder.sinkId;
    this.stagingSchema = Optional.ofNullable(builder.stagingSchema).orElse(table.schema());
    this.retryTimeout = builder.retryTimeout;
  }

  public static Builder builder() {
    return new Builder();
  }

  PostgresConnectionOptions connection() {
    return connection;
  }

  TableName table() {
    return table;
  }

  /** The columns whose values identify a row; empty if rows are only added. */
  List<String> keys() {
    return keys;
  }

  DeliveryGuarantee guarantee() {
    return guarantee;
  }

  /** The name of the sink in the database. */
  String sinkId() {
    return sinkId;
  }

  /** A table of the schema that has the tables of staged rows. */
  TableName stagingTable(String name) {
    return new TableName(stagingSchema, name);
  }

  /** How long work that fails for a passing reason is repeated. */
  Duration retryTimeout() {
    return retryTimeout;
  }

  @Override
  public String toString() {
    return "PostgreSQL table " + table + " at " + connection + ", " + guarantee;
  }

  /** Collects options. Connection, table and, for exactly once, the sink's name are required. */
  public static final class Builder {
    private PostgresConnectionOptions connection;
    private TableName table;
    private List<String> keys = List.of();
    private DeliveryGuarantee guarantee = DeliveryGuarantee.EXACTLY_ONCE;
    private String sinkId;
    private String stagingSchema;
    private Duration retryTimeout = Duration.ofMinutes(1);

    private Builder() {}

    public Builder connection(PostgresConnectionOptions options) {
      connection = Objects.requireNonNull(options, "connection is null");
      return this;
    }

    /**
     * The table, by its names in the catalog: unquoted, in their case.
     *
     * @param schema such as {@code public}
     */
    public Builder table(String schema, String name) {
      table = new TableName(schema, name);
      return this;
    }

    /**
     * Replaces and deletes rows with the same values in these columns, instead of adding rows only.
     * The table has a unique index on exactly these columns. All rows of a key come to the sink
     * through the same subtask, as behind {@code keyBy}.
     */
    public Builder keys(String... columns) {
      keys = List.of(columns);
      return this;
    }

    /**
     * {@link DeliveryGuarantee#EXACTLY_ONCE}, the default: rows appear when a checkpoint completes.
     * {@link DeliveryGuarantee#AT_LEAST_ONCE}: they appear at once, and again after a failure; this
     * needs {@link #keys}.
     */
    public Builder guarantee(DeliveryGuarantee deliveryGuarantee) {
      guarantee = Objects.requireNonNull(deliveryGuarantee, "guarantee is null");
      return this;
    }

    /**
     * The name of this sink in the database, for exactly once. No other sink of the database that
     * runs at the same time has it, and the job keeps it when it is restored.
     *
     * @param id a small letter, and up to 23 small letters, digits and underscores
     */
    public Builder sinkId(String id) {
      if (!SINK_ID.matcher(id).matches()) {
        throw new IllegalArgumentException("expected a sink ID like " + SINK_ID + ", got " + id);
      }
      sinkId = id;
      return this;
    }

    /** The schema for tables of staged rows; by default the table's. */
    public Builder stagingSchema(String schema) {
      stagingSchema = schema;
      return this;
    }

    /**
     * How long a commit, or with at least once a write, is repeated while the database restarts or
     * transactions conflict, before the task fails. By default a minute.
     */
    public Builder retryTimeout(Duration timeout) {
      retryTimeout = Objects.requireNonNull(timeout, "timeout is null");
      return this;
    }

    /**
     * The options.
     *
     * @throws IllegalArgumentException if a required option is missing, or some do not fit together
     */
    public PostgresSinkOptions build() {
      require(connection != null, "the connection is missing");
      require(table != null, "the table is missing");
      require(guarantee != DeliveryGuarantee.NONE, "the guarantee NONE is not supported");
      require(
          guarantee == DeliveryGuarantee.EXACTLY_ONCE || !keys.isEmpty(),
          "AT_LEAST_ONCE needs key columns, by which repeated rows replace each other");
      require(
          guarantee == DeliveryGuarantee.AT_LEAST_ONCE || sinkId != null,
          "EXACTLY_ONCE needs a sink ID, by which a restarted job finds its staged rows");
      return new PostgresSinkOptions(this);
    }

    private static void require(boolean condition, String message) {
      if (!condition) {
        throw new IllegalArgumentException(message);
      }
    }
  }
}
