// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.vector.TimestampNanos;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.io.api.Binary;

/**
 * Tells by the statistics of a row group that a condition holds for none of its rows. Understands
 * comparisons of a column with a literal, and AND of these; anything else may hold.
 */
final class RowGroupFilter implements Serializable {
  private static final long serialVersionUID = 1L;

  private static final Map<String, String> MIRRORED =
      Map.of("=", "=", "<", ">", "<=", ">=", ">", "<", ">=", "<=");

  /** {@code column operator literal}, which must hold. */
  private record Comparison(String column, String operator, Expression.Literal literal)
      implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  private final List<Comparison> comparisons;

  private RowGroupFilter(List<Comparison> comparisons) {
    this.comparisons = comparisons;
  }

  /** All row groups are read. */
  static RowGroupFilter all() {
    return new RowGroupFilter(List.of());
  }

  /** The comparisons that hold for each row that {@code condition} holds for. */
  static RowGroupFilter of(Expression condition) {
    List<Comparison> comparisons = new ArrayList<>();
    addComparisons(condition, comparisons);
    return new RowGroupFilter(List.copyOf(comparisons));
  }

  private static void addComparisons(Expression condition, List<Comparison> comparisons) {
    if (!(condition instanceof Expression.Call call)) {
      return;
    }
    if (call.function().equals("AND")) {
      call.arguments().forEach(argument -> addComparisons(argument, comparisons));
    } else if (MIRRORED.containsKey(call.function()) && call.arguments().size() == 2) {
      Expression left = call.arguments().get(0);
      Expression right = call.arguments().get(1);
      comparison(left, call.function(), right)
          .or(() -> comparison(right, MIRRORED.get(call.function()), left))
          .ifPresent(comparisons::add);
    }
  }

  private static Optional<Comparison> comparison(
      Expression left, String operator, Expression right) {
    return left instanceof Expression.ColumnReference column
            && right instanceof Expression.Literal literal
            && literal.value() != null
        ? Optional.of(new Comparison(column.name(), operator, literal))
        : Optional.empty();
  }

  /** Whether some row of the row group may fulfil the condition. */
  boolean mayHaveRows(RowGroup rowGroup, ParquetSchema schema) {
    return comparisons.isEmpty()
        || schema.tableColumns().stream()
            .filter(ParquetColumn::isLeaf)
            .allMatch(column -> mayHaveRows(rowGroup, column));
  }

  private boolean mayHaveRows(RowGroup rowGroup, ParquetColumn column) {
    List<Comparison> ofColumn =
        comparisons.stream()
            .filter(comparison -> comparison.column().equals(column.field().name()))
            .toList();
    if (ofColumn.isEmpty() || ParquetType.isUnsigned(column.element())) {
      return true;
    }
    Optional<ColumnMetaData> chunk =
        rowGroup.getColumns().stream()
            .map(ColumnChunk::getMeta_data)
            .filter(metadata -> metadata != null)
            .filter(metadata -> metadata.getPath_in_schema().equals(column.path()))
            .findFirst();
    return chunk.isEmpty()
        || ofColumn.stream().allMatch(comparison -> mayHold(comparison, column, chunk.get()));
  }

  private static boolean mayHold(
      Comparison comparison, ParquetColumn column, ColumnMetaData chunk) {
    Statistics<?> statistics =
        ParquetStatistics.read(column.descriptor().getPrimitiveType(), chunk);
    if (!statistics.hasNonNullValue()) {
      return !statistics.isNumNullsSet() || statistics.getNumNulls() < chunk.getNum_values();
    }
    DataType type = column.field().type();
    return switch (type.id()) {
      case FLOAT32, FLOAT64 -> mayHoldForFloats(comparison, statistics);
      case STRING -> mayHoldForTexts(comparison, statistics);
      default -> mayHoldForNumbers(comparison, type, statistics);
    };
  }

  private static <T> boolean mayHold(String operator, Comparable<T> min, Comparable<T> max, T x) {
    return switch (operator) {
      case "=" -> min.compareTo(x) <= 0 && max.compareTo(x) >= 0;
      case "<" -> min.compareTo(x) < 0;
      case "<=" -> min.compareTo(x) <= 0;
      case ">" -> max.compareTo(x) > 0;
      default -> max.compareTo(x) >= 0;
    };
  }

  // SQL may compare after rounding the literal to either type of floating point.
  private static boolean mayHoldForFloats(Comparison comparison, Statistics<?> statistics) {
    if (!comparison.literal().type().isNumeric()) {
      return true;
    }
    double value = ((Number) comparison.literal().value()).doubleValue();
    double rounded = (float) value;
    double min = ((Number) statistics.genericGetMin()).doubleValue();
    double max = ((Number) statistics.genericGetMax()).doubleValue();
    // Statistics leave out NaN, which is greater than each decimal.
    boolean mayBeNaN =
        comparison.operator().startsWith(">") && comparison.literal().type().isDecimal();
    return mayBeNaN
        || mayHold(comparison.operator(), (Comparable<Double>) min, max, value)
        || mayHold(comparison.operator(), (Comparable<Double>) min, max, rounded);
  }

  private static boolean mayHoldForTexts(Comparison comparison, Statistics<?> statistics) {
    if (!(comparison.literal().value() instanceof String text)) {
      return true;
    }
    Binary value = Binary.fromConstantByteArray(text.getBytes(StandardCharsets.UTF_8));
    return mayHold(
        comparison.operator(),
        (Binary) statistics.genericGetMin(),
        (Binary) statistics.genericGetMax(),
        value);
  }

  private static boolean mayHoldForNumbers(
      Comparison comparison, DataType type, Statistics<?> statistics) {
    Optional<BigDecimal> value = literal(comparison.literal(), type);
    Optional<BigDecimal> min = number(statistics.genericGetMin(), type);
    Optional<BigDecimal> max = number(statistics.genericGetMax(), type);
    return value.isEmpty()
        || min.isEmpty()
        || max.isEmpty()
        || mayHold(comparison.operator(), min.get(), max.get(), value.get());
  }

  // Empty if SQL compares the two types in another way than as exact numbers.
  private static Optional<BigDecimal> literal(Expression.Literal literal, DataType column) {
    DataType type = literal.type();
    boolean areExact =
        (column.isInteger() || column.isDecimal()) && (type.isInteger() || type.isDecimal());
    boolean areTimes =
        column.isTimestamp()
            && type.isTimestamp()
            && column.withTimeZone() == type.withTimeZone()
            && type.precision() <= column.precision();
    boolean areEqual =
        column.equals(type) && (type.id() == TypeId.DATE || type.id() == TypeId.TIME);
    if (!areExact && !areTimes && !areEqual) {
      return Optional.empty();
    }
    if (literal.value() instanceof BigDecimal number) {
      return Optional.of(number);
    } else if (literal.value() instanceof TimestampNanos time) {
      return Optional.of(
          BigDecimal.valueOf(time.millis()).add(BigDecimal.valueOf(time.nanos(), 6)));
    }
    return literal.value() instanceof Long number
        ? Optional.of(scaled(number, type))
        : Optional.empty();
  }

  private static Optional<BigDecimal> number(Object value, DataType type) {
    if (value instanceof Binary bytes) {
      return type.isDecimal()
          ? Optional.of(new BigDecimal(new BigInteger(bytes.getBytes()), type.scale()))
          : Optional.empty();
    }
    return value instanceof Number number
        ? Optional.of(scaled(number.longValue(), type))
        : Optional.empty();
  }

  // Timestamps in milliseconds; other numbers as they are.
  private static BigDecimal scaled(long number, DataType type) {
    return switch (type.id()) {
      case TIMESTAMP_MICROS -> BigDecimal.valueOf(number, 3);
      case TIMESTAMP_NANOS -> BigDecimal.valueOf(number, 6);
      default -> BigDecimal.valueOf(number, type.scale());
    };
  }
}
