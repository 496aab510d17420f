// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.sql.Array;
import java.sql.Blob;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Struct;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.duckdb.DuckDBDriver;

/** A database that reads and writes Parquet files with code of its own. */
final class DuckDb implements AutoCloseable {
  private final Connection connection;

  DuckDb() throws SQLException {
    this.connection = new DuckDBDriver().connect("jdbc:duckdb:", new Properties());
    execute("SET TimeZone = 'UTC'");
  }

  void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Writes the result of a query. */
  void copy(String query, Path file, String options) throws SQLException {
    execute("COPY (" + query + ") TO '" + file + "' (FORMAT parquet, " + options + ")");
  }

  /** The rows of a file, as Java values of the schema's types. */
  List<List<Object>> read(Path file, Schema schema) throws SQLException {
    List<List<Object>> rows = new ArrayList<>();
    String columns =
        schema.fields().stream().map(DuckDb::selected).collect(Collectors.joining(", "));
    try (Statement statement = connection.createStatement();
        ResultSet result =
            statement.executeQuery("SELECT " + columns + " FROM read_parquet('" + file + "')")) {
      while (result.next()) {
        List<Object> row = new ArrayList<>();
        for (int i = 0; i < schema.size(); i++) {
          row.add(value(result.getObject(i + 1), schema.type(i)));
        }
        rows.add(row);
      }
    }
    return rows;
  }

  // The driver goes through the default time zone, which has not each local time once.
  private static String selected(DataType.Field column) {
    String name = '"' + column.name() + '"';
    return switch (column.type().id()) {
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS -> "epoch_us(" + name + ")";
      case TIMESTAMP_NANOS -> "epoch_ns(" + name + ")";
      default -> name;
    };
  }

  private static Object value(Object value, DataType type) throws SQLException {
    if (value == null) {
      return null;
    }
    return switch (type.id()) {
      case BINARY -> {
        Blob blob = (Blob) value;
        yield ByteBuffer.wrap(blob.getBytes(1, (int) blob.length()));
      }
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> time(value, type);
      case LIST -> elements(value, type.fields().get(0).type());
      case STRUCT -> {
        Object[] fields = ((Struct) value).getAttributes();
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < fields.length; i++) {
          values.add(value(fields[i], type.fields().get(i).type()));
        }
        yield values;
      }
      default -> value;
    };
  }

  private static Object time(Object value, DataType type) {
    if (value instanceof LocalDateTime nested) {
      return nested;
    }
    ChronoUnit unit = type.id() == TypeId.TIMESTAMP_NANOS ? ChronoUnit.NANOS : ChronoUnit.MICROS;
    Instant instant = Instant.EPOCH.plus((Long) value, unit);
    return type.withTimeZone() ? instant : LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
  }

  // A MAP is a list of keys and values.
  private static List<Object> elements(Object value, DataType element) throws SQLException {
    List<Object> elements = new ArrayList<>();
    if (value instanceof Map<?, ?> map) {
      map.forEach((key, mapped) -> elements.add(Arrays.asList(key, mapped)));
    } else {
      for (Object x : (Object[]) ((Array) value).getArray()) {
        elements.add(value(x, element));
      }
    }
    return elements;
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
