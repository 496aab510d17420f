// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.dimension;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.postgres.PostgresConnectionOptions;
import io.millrace.connectors.postgres.TableName;
import io.millrace.connectors.postgres.copy.CopyBinaryEncoder;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.lookup.DimensionReader;
import io.millrace.operators.lookup.DimensionTable;
import io.millrace.operators.lookup.RefreshOptions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A table or a query of PostgreSQL for lookups. Each TaskManager reads it as a whole, by one COPY,
 * which sees one moment. Rows with a null in a key are left out; a key that two rows have fails the
 * read. Immutable; shows no password. Two are equal if all is equal but the password.
 *
 * @param source what follows FROM in SQL
 */
@PublicEvolving
public record PostgresDimension(
    PostgresConnectionOptions connection,
    String name,
    String source,
    Schema schema,
    List<String> keys,
    RefreshOptions refresh)
    implements DimensionTable {
  private static final long serialVersionUID = 1L;
  private static final RefreshOptions DEFAULT_REFRESH = RefreshOptions.every(Duration.ofMinutes(1));

  /**
   * @throws IllegalArgumentException if there is no key, a key is not a column, or PostgreSQL has
   *     no form for a type
   */
  public PostgresDimension {
    Objects.requireNonNull(connection, "connection is null");
    keys = List.copyOf(keys);
    if (keys.isEmpty()) {
      throw new IllegalArgumentException("expected a key column");
    }
    keys.forEach(schema::indexOf);
    new CopyBinaryEncoder().fileStart(schema);
  }

  /**
   * A table, which is read again each minute.
   *
   * @param schema the table's schema, such as {@code public}, unquoted and in its case
   * @param table unquoted and in its case
   * @param columns the columns to read, by their names in the table; values are cast to their types
   * @param keys the columns that tell rows
   * @throws IllegalArgumentException as the constructor
   */
  public static PostgresDimension ofTable(
      PostgresConnectionOptions connection,
      String schema,
      String table,
      Schema columns,
      String... keys) {
    TableName name = new TableName(schema, table);
    return new PostgresDimension(
        connection, name.toString(), name.sql(), columns, List.of(keys), DEFAULT_REFRESH);
  }

  /**
   * The rows of a query, which is run again each minute.
   *
   * @param name for plans, metrics, logs and messages
   * @param query such as {@code SELECT ...}, sent to the database as it is
   * @param columns as of {@link #ofTable}
   * @throws IllegalArgumentException as the constructor
   */
  public static PostgresDimension ofQuery(
      PostgresConnectionOptions connection,
      String name,
      String query,
      Schema columns,
      String... keys) {
    return new PostgresDimension(
        connection, name, "(" + query + ")", columns, List.of(keys), DEFAULT_REFRESH);
  }

  /** This table, read as often as {@code options} say. */
  public PostgresDimension withRefresh(RefreshOptions options) {
    return new PostgresDimension(connection, name, source, schema, keys, options);
  }

  @Override
  public DimensionReader open(DeviceContext context) throws SQLException {
    return new CopyReader(this, context);
  }

  /** Copies all rows. Behind the columns is an empty text, as CopyBlockBuilder expects one. */
  String copy() {
    List<Field> fields = schema.fields();
    return "COPY (SELECT "
        + TableName.castAll(fields)
        + ", ''::text FROM "
        + source
        + " AS source WHERE "
        + keys.stream()
            .map(key -> TableName.quote(key) + " IS NOT NULL")
            .collect(Collectors.joining(" AND "))
        + ") TO STDOUT (FORMAT binary)";
  }

  @Override
  public String toString() {
    return "PostgreSQL dimension table " + name + " at " + connection;
  }
}
