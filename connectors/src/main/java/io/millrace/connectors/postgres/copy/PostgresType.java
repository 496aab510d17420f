// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import org.apache.flink.annotation.Internal;

/** The types of PostgreSQL that columns are written as, with their object identifiers. */
@Internal
public enum PostgresType {
  BOOLEAN("boolean", 16),
  SMALLINT("smallint", 21),
  INTEGER("integer", 23),
  BIGINT("bigint", 20),
  REAL("real", 700),
  DOUBLE_PRECISION("double precision", 701),
  NUMERIC("numeric", 1700),
  TEXT("text", 25),
  BYTEA("bytea", 17),
  DATE("date", 1082),
  TIME("time without time zone", 1083),
  TIMESTAMP("timestamp without time zone", 1114),
  TIMESTAMPTZ("timestamp with time zone", 1184);

  private final String sqlName;
  private final int oid;

  PostgresType(String sqlName, int oid) {
    this.sqlName = sqlName;
    this.oid = oid;
  }

  /** The name, as PostgreSQL's {@code format_type} gives it. */
  public String sqlName() {
    return sqlName;
  }

  /** The object identifier, which is the same in each database. */
  int oid() {
    return oid;
  }

  /**
   * The name of the type that holds the values of {@code type}, such as {@code bigint[]}.
   *
   * @throws IllegalArgumentException if PostgreSQL has no form for them; the message says why
   */
  public static String sqlName(DataType type) {
    return type.id() == TypeId.LIST ? ofElements(type).sqlName + "[]" : of(type).sqlName;
  }

  /**
   * The type of the elements of lists.
   *
   * @throws IllegalArgumentException if PostgreSQL has no form for them
   */
  static PostgresType ofElements(DataType list) {
    return of(list.fields().get(0).type());
  }

  /**
   * The type that holds values of {@code type}, which are not lists.
   *
   * @throws IllegalArgumentException if PostgreSQL has no form for them
   */
  static PostgresType of(DataType type) {
    return switch (type.id()) {
      case BOOL -> BOOLEAN;
      case INT8, INT16 -> SMALLINT;
      case INT32 -> INTEGER;
      case INT64 -> BIGINT;
      case FLOAT32 -> REAL;
      case FLOAT64 -> DOUBLE_PRECISION;
      case DECIMAL32, DECIMAL64, DECIMAL128 -> NUMERIC;
      case STRING -> TEXT;
      case BINARY -> BYTEA;
      case DATE -> DATE;
      case TIME -> TIME;
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS -> type.withTimeZone() ? TIMESTAMPTZ : TIMESTAMP;
      case TIMESTAMP_NANOS ->
          throw new IllegalArgumentException(
              type + " has no form in PostgreSQL, whose timestamps have six digits: cast it");
      case LIST ->
          throw new IllegalArgumentException(
              "an array of arrays has no form in PostgreSQL if their lengths differ: " + type);
      case STRUCT, DICTIONARY ->
          throw new IllegalArgumentException(type + " has no form in PostgreSQL");
    };
  }
}
