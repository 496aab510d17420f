// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.state.row.StateSchema;
import io.millrace.testing.DataTypes;
import io.millrace.testing.ExpressionValues;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/**
 * A random query with GROUP BY, and rows for it.
 *
 * @param schema of the rows, without a column of row kinds
 * @param rows with kinds; all are insertions, or each row that is taken back was inserted before
 * @param averages for each aggregate its parts if it is an average, else null
 */
record RandomGroupBy(
    Schema schema,
    List<Row> rows,
    boolean isChangelog,
    List<String> keys,
    List<Aggregate> aggregates,
    List<Average> averages) {
  private static final int MAX_KEYS = 3;
  private static final int MAX_VALUES_OF_KEY = 5;
  private static final int MAX_ROWS = 200;
  private static final int AGGREGATES = 15;
  private static final int DECIMALS = 2;
  private static final int INTEGERS = 4;
  private static final int OTHERS = 4;
  private static final String TEXT = "s";
  private static final List<String> SEPARATORS =
      List.of("", ";", "'", ", ", "\u20ac and more than 12 bytes");
  private static final String LONG = "a string of more than 12 bytes";
  // A sum of all rows has 38 digits at most.
  private static final int MAX_SUMMED_DIGITS = 35;
  private static final List<DataType> INTEGER_TYPES =
      List.of(DataType.INT8, DataType.INT16, DataType.INT32, DataType.INT64);

  /** The aggregates of the query, and then for each average its sum and its count. */
  List<Aggregate> aggregatesAndParts() {
    List<Aggregate> all = new ArrayList<>(aggregates);
    for (int i = 0; i < aggregates.size(); i++) {
      Average average = averages.get(i);
      if (average != null) {
        all.add(filtered(Aggregate.sum(average.argument()), average.condition()).as("sum" + i));
        all.add(filtered(Aggregate.count(average.argument()), average.condition()).as("count" + i));
      }
    }
    return all;
  }

  /** The query in SQL, over a table {@code t}. Aggregates print themselves as SQL. */
  String sql() {
    String keyColumns = keys.stream().map(key -> "`" + key + "`").collect(Collectors.joining(", "));
    String results = aggregates.stream().map(Object::toString).collect(Collectors.joining(", "));
    return "SELECT " + keyColumns + ", " + results + " FROM t GROUP BY " + keyColumns;
  }

  /** {@code condition} is null without a filter. */
  record Average(Expression argument, Expression condition) {}

  private static Aggregate filtered(Aggregate aggregate, Expression condition) {
    return condition == null ? aggregate : aggregate.filter(condition);
  }

  /**
   * A query.
   *
   * @param addsFloatingPoint whether it has sums that depend on the order of additions
   * @param isTwoPhase whether it is for two phases, which have no DISTINCT, and no minima and
   *     maxima of values of more than 8 bytes
   */
  static RandomGroupBy of(
      Random random, boolean isChangelog, boolean addsFloatingPoint, boolean isTwoPhase) {
    return new Builder(random, isChangelog, addsFloatingPoint, !isTwoPhase, isTwoPhase).build();
  }

  /** As the other method, without DISTINCT, for one phase. */
  static RandomGroupBy of(Random random, boolean isChangelog, boolean addsFloatingPoint) {
    return new Builder(random, isChangelog, addsFloatingPoint, false, false).build();
  }

  private static final class Builder {
    private final Random random;
    private final boolean isChangelog;
    private final boolean addsFloatingPoint;
    private final ExpressionValues values;
    // Beside a variance, Flink adds the FLOAT values of an average as FLOAT.
    private final boolean hasVariances;
    private final boolean isTwoPhase;
    private final boolean hasDistincts;
    private final List<Field> fields = new ArrayList<>();

    Builder(
        Random random,
        boolean isChangelog,
        boolean addsFloatingPoint,
        boolean hasDistincts,
        boolean isTwoPhase) {
      this.random = random;
      this.addsFloatingPoint = addsFloatingPoint;
      this.isChangelog = isChangelog;
      this.values = new ExpressionValues(random);
      this.isTwoPhase = isTwoPhase;
      this.hasDistincts = hasDistincts && random.nextBoolean();
      this.hasVariances = addsFloatingPoint && random.nextBoolean();
    }

    RandomGroupBy build() {
      int keys = 1 + random.nextInt(MAX_KEYS);
      for (int i = 0; i < keys; i++) {
        fields.add(new Field("k" + i, keyType(), random.nextBoolean()));
      }
      fields.add(new Field("f", DataType.BOOL, random.nextBoolean()));
      for (int i = 0; i < INTEGERS; i++) {
        fields.add(new Field("i" + i, any(INTEGER_TYPES), random.nextBoolean()));
      }
      for (int i = 0; i < DECIMALS; i++) {
        fields.add(new Field("d" + i, summableDecimal(), random.nextBoolean()));
      }
      fields.add(new Field("x32", DataType.FLOAT32, random.nextBoolean()));
      fields.add(new Field("x64", DataType.FLOAT64, random.nextBoolean()));
      // With a filter, Flink's LISTAGG of an argument that is never null is NOT NULL, and may be
      // null.
      fields.add(Field.of(TEXT, DataType.STRING));
      for (int i = 0; i < OTHERS; i++) {
        fields.add(new Field("o" + i, otherType(), random.nextBoolean()));
      }
      List<Aggregate> aggregates = new ArrayList<>();
      List<Average> averages = new ArrayList<>();
      for (int i = 0; i < AGGREGATES; i++) {
        Expression condition = random.nextInt(3) == 0 ? condition() : null;
        Average average = random.nextInt(5) == 0 ? new Average(integer(), condition) : null;
        Aggregate aggregate = average == null ? any() : Aggregate.avg(average.argument());
        aggregates.add(filtered(aggregate, condition).as("a" + i));
        averages.add(average);
      }
      List<String> names = fields.subList(0, keys).stream().map(Field::name).toList();
      List<Row> rows = isChangelog ? changes(rows(keys)) : rows(keys);
      return new RandomGroupBy(new Schema(fields), rows, isChangelog, names, aggregates, averages);
    }

    private DataType keyType() {
      return switch (random.nextInt(4)) {
        case 0 -> anyPrecision(38, 9);
        case 1 -> DataType.STRING;
        default -> any(DataTypes.flat());
      };
    }

    // Sums of all rows have at most 32 digits before the point, with which Flink computes an
    // average.
    private DataType summableDecimal() {
      int scale = random.nextInt(MAX_SUMMED_DIGITS + 1);
      int wholeDigits = random.nextInt(Math.min(29, MAX_SUMMED_DIGITS - scale) + 1);
      return DataType.decimal(Math.max(1, wholeDigits + scale), scale);
    }

    private DataType otherType() {
      return random.nextInt(3) == 0 ? anyPrecision(38, 9) : any(DataTypes.flat());
    }

    private DataType anyPrecision(int decimalDigits, int timestampDigits) {
      int precision = 1 + random.nextInt(decimalDigits);
      return random.nextBoolean()
          ? DataType.decimal(precision, random.nextInt(precision + 1))
          : DataType.timestamp(random.nextInt(timestampDigits + 1), random.nextBoolean());
    }

    private List<Row> rows(int keys) {
      List<List<Object>> keyValues = new ArrayList<>();
      for (Field field : fields.subList(0, keys)) {
        keyValues.add(
            Stream.generate(() -> keyValue(field))
                .limit(1 + random.nextInt(MAX_VALUES_OF_KEY))
                .toList());
      }
      List<Row> rows = new ArrayList<>();
      for (int row = 1 + random.nextInt(MAX_ROWS); row > 0; row--) {
        Object[] columns = new Object[fields.size()];
        for (int i = 0; i < columns.length; i++) {
          columns[i] = i < keys ? any(keyValues.get(i)) : ordinaryValue(fields.get(i));
        }
        rows.add(Row.of(columns));
      }
      return rows;
    }

    // Strings of a state row lie in it if they are short, and apart if they are long.
    private Object keyValue(Field field) {
      return sometimesLong(value(field));
    }

    private Object sometimesLong(Object value) {
      return value instanceof String string && random.nextBoolean()
          ? string + LONG.substring(random.nextInt(LONG.length()))
          : value;
    }

    private Object value(Field field) {
      if (field.nullable() && random.nextInt(4) == 0) {
        return null;
      }
      Object value = values.value(field.type());
      return value instanceof ByteBuffer buffer ? bytes(buffer) : value;
    }

    private static byte[] bytes(ByteBuffer buffer) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      return bytes;
    }

    // Flink's extremes of NaN and of zeros of both signs depend on the order of the rows.
    private Object ordinaryValue(Field field) {
      Object value = value(field);
      while (value instanceof Number number
          && (value instanceof Float || value instanceof Double)
          && (Double.isNaN(number.doubleValue())
              || Double.compare(number.doubleValue(), -0.0) == 0)) {
        value = value(field);
      }
      return sometimesLong(value);
    }

    /** The rows as insertions, and between them deletions and updates of rows that are present. */
    private List<Row> changes(List<Row> rows) {
      List<Row> present = new ArrayList<>();
      List<Row> changes = new ArrayList<>();
      for (Row row : rows) {
        int action = present.isEmpty() ? 0 : random.nextInt(4);
        if (action == 3) {
          changes.add(withKind(RowKind.DELETE, present.remove(random.nextInt(present.size()))));
        } else if (action == 2) {
          changes.add(
              withKind(RowKind.UPDATE_BEFORE, present.remove(random.nextInt(present.size()))));
          changes.add(withKind(RowKind.UPDATE_AFTER, row));
          present.add(row);
        } else {
          changes.add(row);
          present.add(row);
        }
      }
      return changes;
    }

    private static Row withKind(RowKind kind, Row row) {
      Row copy = Row.copy(row);
      copy.setKind(kind);
      return copy;
    }

    private Aggregate any() {
      return hasDistincts && random.nextInt(3) == 0 ? distinct() : other();
    }

    // Of an argument that is never null, Flink's sum is NOT NULL.
    private Aggregate distinct() {
      // Flink has no DISTINCT of VARBINARY.
      Field argument =
          any(fields.stream().filter(field -> !field.type().equals(DataType.BINARY)).toList());
      boolean isInOrder = argument.type().isFloatingPoint();
      boolean isSummable =
          argument.nullable()
              && argument.type().isNumeric()
              && (!isInOrder || (addsFloatingPoint && !isChangelog))
              && (!argument.type().isDecimal() || argument.name().startsWith("d"));
      Aggregate aggregate = Aggregate.count(argument.name());
      if (isSummable) {
        aggregate =
            switch (random.nextInt(4)) {
              case 0 -> aggregate;
              case 1 ->
                  isInOrder || argument.type().isInteger()
                      ? Aggregate.sum(argument.name())
                      : Aggregate.avg(argument.name());
              case 2 ->
                  hasVariances && !isChangelog
                      ? Aggregate.varPop(argument.name())
                      : Aggregate.sum(argument.name());
              default -> Aggregate.sum(argument.name());
            };
      } else if ((!isChangelog || argument.nullable()) && isOrdered(argument.type())) {
        aggregate = random.nextBoolean() ? aggregate : Aggregate.max(argument.name());
      }
      return aggregate.distinct();
    }

    private Aggregate other() {
      // In two phases, extremes of a changelog are refused.
      int functions = !isChangelog && addsFloatingPoint ? 13 : isChangelog && isTwoPhase ? 7 : 9;
      return switch (random.nextInt(functions)) {
        case 0 -> Aggregate.count();
        case 1 -> Aggregate.count(any(fields).name());
        case 2 -> Aggregate.sum(integer());
        case 3 -> Aggregate.sum(fraction());
        case 4 -> Aggregate.avg(hasVariances ? col("x64") : fraction());
        case 5, 6 -> variance();
        case 7 -> Aggregate.min(ordered());
        case 9 -> Aggregate.firstValue(any(fields).name());
        case 10 -> Aggregate.lastValue(any(fields).name());
        case 11 -> Aggregate.listAgg(TEXT);
        case 12 -> Aggregate.listAgg(TEXT, any(SEPARATORS));
        default -> Aggregate.max(ordered());
      };
    }

    // Of an argument that is never null, Flink's result is NOT NULL, and null for one row.
    private Aggregate variance() {
      List<Field> arguments =
          fields.stream().filter(field -> field.nullable() && field.type().isNumeric()).toList();
      if (!hasVariances || arguments.isEmpty()) {
        return Aggregate.sum(integer());
      }
      Expression argument = col(any(arguments).name());
      return switch (random.nextInt(4)) {
        case 0 -> Aggregate.stddevPop(argument);
        case 1 -> Aggregate.stddevSamp(argument);
        case 2 -> Aggregate.varPop(argument);
        default -> Aggregate.varSamp(argument);
      };
    }

    private Expression integer() {
      Expression column = integerColumn();
      return switch (random.nextInt(6)) {
        case 0 -> column.plus(integerColumn());
        case 1 -> column.times(lit(random.nextInt(7) - 3));
        default -> column;
      };
    }

    private Expression fraction() {
      boolean isDecimal = !addsFloatingPoint || random.nextBoolean();
      return col(isDecimal ? "d" + random.nextInt(DECIMALS) : random.nextBoolean() ? "x32" : "x64");
    }

    private Expression integerColumn() {
      return col(
          any(fields.stream().filter(field -> INTEGER_TYPES.contains(field.type())).toList())
              .name());
    }

    private Expression ordered() {
      return col(
          any(fields.stream()
                  .filter(field -> isOrdered(field.type()))
                  .filter(field -> !isTwoPhase || StateSchema.words(field.type()) == 1)
                  // Of an argument that is never null, Flink's result is NOT NULL.
                  .filter(field -> !isChangelog || field.nullable())
                  .toList())
              .name());
    }

    // Flink has no MIN and MAX of VARBINARY.
    private static boolean isOrdered(DataType type) {
      return type.id() != TypeId.BINARY;
    }

    private Expression condition() {
      return switch (random.nextInt(4)) {
        case 0 -> col("f");
        case 1 -> col(any(fields).name()).isNotNull();
        case 2 -> integerColumn().gt(random.nextInt(10) - 5);
        default -> col("f").or(integerColumn().lt(integerColumn()));
      };
    }

    private <T> T any(List<T> list) {
      return list.get(random.nextInt(list.size()));
    }
  }

  @Override
  public String toString() {
    return sql()
        + " with t "
        + schema
        + rows.stream().limit(10).map(row -> "\n    " + row).collect(Collectors.joining())
        + (rows.size() > 10 ? "\n    and " + (rows.size() - 10) + " rows more" : "");
  }
}
