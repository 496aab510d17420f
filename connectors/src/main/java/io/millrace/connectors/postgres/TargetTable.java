// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.connectors.postgres.copy.PostgresType;
import io.millrace.operators.row.RowKindColumn;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.annotation.Internal;

/** The columns of a table that a stream is written to, compared with the stream's. */
@Internal
public final class TargetTable {
  private static final String COLUMNS =
      """
      SELECT attname, format_type(atttypid, atttypmod), format_type(atttypid, NULL), atttypmod,
          attnotnull, attgenerated <> '' OR attidentity = 'a', atthasdef OR attidentity <> ''
      FROM pg_attribute
      WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped
      ORDER BY attnum""";
  private static final String UNIQUE_INDEXES =
      """
      SELECT array_agg(attname::text)
      FROM pg_index JOIN pg_attribute
          ON attrelid = indrelid AND attnum = ANY ((indkey::int2[])[0 : indnkeyatts - 1])
      WHERE indrelid = to_regclass(?) AND indisunique AND indimmediate AND indisvalid
          AND indpred IS NULL AND indexprs IS NULL
      GROUP BY indexrelid""";
  // What PostgreSQL adds to the modifiers of numeric.
  private static final int MODIFIER_OFFSET = 4;
  private static final Set<String> TEXTS = Set.of("text", "character varying", "character", "json");

  private final TableName name;
  private final Map<String, Column> columns;

  private record Column(
      String fullType,
      String type,
      int modifier,
      boolean isNotNull,
      boolean isGenerated,
      boolean hasDefault) {}

  private TargetTable(TableName name, Map<String, Column> columns) {
    this.name = name;
    this.columns = columns;
  }

  /**
   * The definitions of the stream's columns, in their order, with the types of the table: what the
   * table would refuse, a table with these columns refuses.
   *
   * @throws IllegalArgumentException if rows of {@code schema} do not fit the table; the message
   *     has each difference
   */
  public static List<String> definitions(
      Connection connection, TableName name, Schema schema, List<String> keys) throws SQLException {
    TargetTable table = read(connection, name);
    List<Field> fields = RowKindColumn.rowFields(schema);
    List<String> differences = new ArrayList<>();
    fields.forEach(field -> table.difference(field).ifPresent(differences::add));
    table.addMissing(fields, differences);
    if (!keys.isEmpty() && differences.isEmpty()) {
      table.addKeys(connection, keys, differences);
    }
    if (!differences.isEmpty()) {
      throw new IllegalArgumentException(
          "the stream does not fit the table " + name + ":\n  " + String.join("\n  ", differences));
    }
    return fields.stream().map(table::definition).toList();
  }

  /**
   * Checks that rows can be told by one column.
   *
   * @throws IllegalArgumentException if it is not a column with a unique index of its own and
   *     without nulls
   */
  public static void checkKey(Connection connection, TableName name, String key)
      throws SQLException {
    TargetTable table = read(connection, name);
    List<String> differences = new ArrayList<>();
    if (table.columns.containsKey(key)) {
      table.addKeys(connection, List.of(key), differences);
    } else {
      differences.add("there is no column '" + key + "'");
    }
    if (!differences.isEmpty()) {
      throw new IllegalArgumentException(
          "the table " + name + " cannot be read by '" + key + "': " + differences.get(0));
    }
  }

  private static TargetTable read(Connection connection, TableName name) throws SQLException {
    Map<String, Column> columns = new LinkedHashMap<>();
    try (PreparedStatement statement = connection.prepareStatement(COLUMNS)) {
      statement.setString(1, name.sql());
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          columns.put(
              rows.getString(1),
              new Column(
                  rows.getString(2),
                  rows.getString(3),
                  rows.getInt(4),
                  rows.getBoolean(5),
                  rows.getBoolean(6),
                  rows.getBoolean(7)));
        }
      }
    }
    if (columns.isEmpty()) {
      throw new IllegalArgumentException(
          "there is no table " + name + " with columns that this user may see");
    }
    return new TargetTable(name, columns);
  }

  private String definition(Field field) {
    Column column = columns.get(field.name());
    return TableName.quote(field.name())
        + " "
        + column.fullType
        + (column.isNotNull ? " NOT NULL" : "");
  }

  private Optional<String> difference(Field field) {
    Column column = columns.get(field.name());
    String difference;
    if (column == null) {
      difference = "the table has no such column; it has " + String.join(", ", columns.keySet());
    } else if (column.isGenerated) {
      difference = "the table generates its values";
    } else if (!holds(column, field.type())) {
      difference =
          "expected "
              + expected(field.type())
              + " for "
              + field.type()
              + ", got "
              + column.fullType;
    } else if (column.isNotNull && field.nullable()) {
      difference = "nullable in the stream, NOT NULL in the table";
    } else {
      return Optional.empty();
    }
    return Optional.of("column '" + field.name() + "': " + difference);
  }

  private static String expected(DataType type) {
    if (type.id() == TypeId.LIST) {
      return "an array of " + expected(type.fields().get(0).type());
    }
    return type.isDecimal()
        ? "numeric(" + type.precision() + ", " + type.scale() + ") or wider"
        : PostgresType.sqlName(type);
  }

  /** Whether each value of {@code type} is kept as it is. */
  private static boolean holds(Column column, DataType type) {
    if (type.id() == TypeId.STRING) {
      return TEXTS.contains(column.type);
    }
    if (!column.type.equals(PostgresType.sqlName(type))) {
      return false;
    }
    // The modifier of an array is that of its elements.
    return column.modifier < 0
        || holds(column.modifier, type.id() == TypeId.LIST ? type.fields().get(0).type() : type);
  }

  private static boolean holds(int modifier, DataType type) {
    if (type.isDecimal()) {
      return holdsDecimal(modifier, type);
    }
    // The modifier of times is the number of digits of a second's fraction.
    int digits = type.id() == TypeId.TIME ? 3 : type.precision();
    return !(type.isTimestamp() || type.id() == TypeId.TIME) || modifier >= digits;
  }

  private static boolean holdsDecimal(int modifier, DataType type) {
    int precision = ((modifier - MODIFIER_OFFSET) >> 16) & 0xffff;
    // A number of 11 bits with a sign.
    int scale = (((modifier - MODIFIER_OFFSET) & 0x7ff) ^ 1024) - 1024;
    return scale >= type.scale() && precision - scale >= type.precision() - type.scale();
  }

  private void addMissing(List<Field> fields, List<String> differences) {
    Set<String> names = new HashSet<>();
    fields.forEach(field -> names.add(field.name()));
    columns.forEach(
        (column, properties) -> {
          if (!names.contains(column)
              && properties.isNotNull
              && !properties.hasDefault
              && !properties.isGenerated) {
            differences.add(
                "column '" + column + "': NOT NULL without a default, and not in the stream");
          }
        });
  }

  private void addKeys(Connection connection, List<String> keys, List<String> differences)
      throws SQLException {
    for (String key : keys) {
      if (!columns.get(key).isNotNull) {
        differences.add("column '" + key + "': a key, and not NOT NULL in the table");
      }
    }
    try (PreparedStatement statement = connection.prepareStatement(UNIQUE_INDEXES)) {
      statement.setString(1, name.sql());
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          if (Set.of((String[]) rows.getArray(1).getArray()).equals(Set.copyOf(keys))) {
            return;
          }
        }
      }
    }
    differences.add(
        "the table has no unique index on exactly the key columns " + String.join(", ", keys));
  }
}
