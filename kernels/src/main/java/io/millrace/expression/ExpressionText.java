// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.typed.SqlText;
import io.millrace.expression.vector.TimestampNanos;
import io.millrace.expression.vector.ValueText;
import java.io.Serializable;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;

/**
 * Writes expressions as SQL that Flink parses with the same meaning, truncated by {@link
 * SqlText#cut}.
 */
final class ExpressionText {
  private static final CallSyntax BUILT_IN =
      ServiceLoader.load(CallSyntax.class, CallSyntax.class.getClassLoader())
          .findFirst()
          .orElseThrow(
              () ->
                  new IllegalStateException(
                      "expected a service " + CallSyntax.class.getName() + ", found none"));

  private ExpressionText() {}

  /**
   * Writes the last of {@code parts}.
   *
   * @param parts operands precede the nodes that use them
   */
  static String of(List<ExpressionPart> parts) {
    List<String> texts = new ArrayList<>(parts.size());
    for (ExpressionPart part : parts) {
      texts.add(SqlText.cut(write(part, part.operands().stream().map(texts::get).toList())));
    }
    return texts.get(texts.size() - 1);
  }

  private static String write(ExpressionPart part, List<String> operands) {
    List<Serializable> properties = part.properties();
    return switch (part.kind()) {
      case COLUMN -> identifier(properties.get(0));
      case LITERAL -> literal(properties.get(0), (DataType) properties.get(1));
      case CALL -> call((String) properties.get(0), operands);
      case CAST -> {
        String function = (Boolean) properties.get(1) ? "TRY_CAST(" : "CAST(";
        yield function + operands.get(0) + " AS " + type((DataType) properties.get(0)) + ")";
      }
      case CASE -> {
        int conditions = operands.size() / 2;
        yield SqlText.branches(
            operands.subList(0, conditions), operands.subList(conditions, operands.size()));
      }
      case FIELD_ACCESS -> operands.get(0) + "." + identifier(properties.get(0));
      case ALIAS -> operands.get(0) + " AS " + identifier(properties.get(0));
    };
  }

  private static String identifier(Serializable name) {
    return "`" + name.toString().replace("`", "``") + "`";
  }

  private static String call(String function, List<String> arguments) {
    return BUILT_IN
        .toSql(function, arguments)
        .orElseGet(() -> function + "(" + String.join(", ", arguments) + ")");
  }

  /** Casts every literal whose SQL notation alone would have another type. */
  private static String literal(Object value, DataType type) {
    if (value == null) {
      return cast("NULL", type);
    }
    if (type.withTimeZone()) {
      return instant(value, type);
    }
    if (value instanceof TimestampNanos timestamp) {
      return cast("'" + ValueText.timestamp(timestamp) + "'", type);
    }
    return switch (type.id()) {
      case BOOL -> value.toString().toUpperCase(Locale.ROOT);
      case INT32 -> number(value.toString());
      case INT8, INT16, INT64 -> cast(number(value.toString()), type);
      case FLOAT32, FLOAT64 -> cast("'" + value + "'", type);
      // Calcite does not parse numbers of more than 18 digits.
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          cast("'" + ((BigDecimal) value).toPlainString() + "'", type);
      case BINARY -> cast(value.toString(), type);
      case STRING -> "'" + value.toString().replace("'", "''") + "'";
      case DATE -> "DATE '" + ValueText.of(type, (Long) value) + "'";
      default -> cast("'" + ValueText.withSeconds(ValueText.of(type, (Long) value)) + "'", type);
    };
  }

  // SQL has no literals of instants.
  private static String instant(Object value, DataType type) {
    int digits = type.precision() <= 3 ? 3 : type.precision() <= 6 ? 6 : 9;
    String pattern = "yyyy-MM-dd HH:mm:ss." + "S".repeat(digits);
    String text = DateTimeFormatter.ofPattern(pattern, Locale.ROOT).format(utc(value, type));
    String instant = "TO_TIMESTAMP_LTZ('" + text + "', '" + pattern + "', 'UTC')";
    return type.precision() == digits ? instant : cast(instant, type);
  }

  private static LocalDateTime utc(Object value, DataType type) {
    if (value instanceof TimestampNanos timestamp) {
      return LocalDateTime.ofInstant(Instant.ofEpochMilli(timestamp.millis()), ZoneOffset.UTC)
          .plusNanos(timestamp.nanos());
    }
    ChronoUnit unit = type.id() == TypeId.TIMESTAMP_MICROS ? ChronoUnit.MICROS : ChronoUnit.MILLIS;
    return LocalDateTime.ofInstant(Instant.EPOCH.plus((Long) value, unit), ZoneOffset.UTC);
  }

  /** The SQL name of a type. TIME and BINARY without a length would mean TIME(0) and BINARY(1). */
  private static String type(DataType type) {
    return switch (type.id()) {
      case TIME -> "TIME(3)";
      case BINARY -> "BYTES";
      default -> type.toString();
    };
  }

  private static String number(String digits) {
    return digits.startsWith("-") ? "(" + digits + ")" : digits;
  }

  private static String cast(String text, DataType type) {
    return "CAST(" + text + " AS " + type(type) + ")";
  }
}
