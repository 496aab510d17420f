package io.millrace.expression;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Expressions as SQL, which Flink reads with the same meaning. */
final class SqlText {
  private SqlText() {}

  static String of(Expression expression) {
    if (expression instanceof Expression.ColumnReference reference) {
      return "`" + reference.name().replace("`", "``") + "`";
    } else if (expression instanceof Expression.Literal literal) {
      return literal(literal.value(), literal.type());
    } else if (expression instanceof Expression.Alias alias) {
      return of(alias.operand()) + " AS `" + alias.name().replace("`", "``") + "`";
    } else if (expression instanceof Expression.Cast cast) {
      String function = cast.orNull() ? "TRY_CAST(" : "CAST(";
      return function + of(cast.operand()) + " AS " + type(cast.type()) + ")";
    } else if (expression instanceof Expression.Case branches) {
      return branches(branches);
    }
    return call((Expression.Call) expression);
  }

  private static String branches(Expression.Case branches) {
    int conditions = branches.conditions().size();
    StringBuilder sql = new StringBuilder("CASE");
    for (int i = 0; i < conditions; i++) {
      sql.append(" WHEN ").append(of(branches.conditions().get(i)));
      sql.append(" THEN ").append(of(branches.results().get(i)));
    }
    return sql.append(" ELSE ")
        .append(of(branches.results().get(conditions)))
        .append(" END")
        .toString();
  }

  private static String call(Expression.Call call) {
    List<String> arguments = call.arguments().stream().map(SqlText::of).toList();
    FunctionRegistry functions = FunctionRegistry.builtIn();
    return functions.contains(call.function())
        ? functions.function(call.function()).toSql(arguments)
        : call.function() + "(" + String.join(", ", arguments) + ")";
  }

  /** Every literal is one of its very type: what SQL would type otherwise is cast. */
  private static String literal(Object value, DataType type) {
    if (value == null) {
      return cast("NULL", type);
    }
    if (value instanceof TimestampNanos timestamp) {
      return cast("'" + timestamp(timestamp) + "'", type);
    }
    return switch (type.id()) {
      case BOOL -> value.toString().toUpperCase(Locale.ROOT);
      case INT32 -> number(value.toString());
      case INT8, INT16, INT64 -> cast(number(value.toString()), type);
      case FLOAT32, FLOAT64 -> cast("'" + value + "'", type);
      // Calcite takes no number of more than 18 digits.
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          cast("'" + ((BigDecimal) value).toPlainString() + "'", type);
      case STRING -> "'" + value.toString().replace("'", "''") + "'";
      case DATE -> "DATE '" + ValueText.of(type, (Long) value) + "'";
      default -> cast("'" + withSeconds(ValueText.of(type, (Long) value)) + "'", type);
    };
  }

  private static String timestamp(TimestampNanos timestamp) {
    DataType micros = new DataType(TypeId.TIMESTAMP_MILLIS, 3, 0, false, List.of());
    long second = Math.floorDiv(timestamp.millis(), 1_000L) * 1_000;
    long nanos = Math.floorMod(timestamp.millis(), 1_000L) * 1_000_000 + timestamp.nanos();
    String text = ValueText.of(micros, second);
    return withSeconds(text) + String.format(Locale.ROOT, ".%09d", nanos);
  }

  /** Java leaves seconds of zero out, SQL does not. */
  private static String withSeconds(String text) {
    String spaced = text.replace('T', ' ');
    return spaced.length() == "1970-01-01 00:00".length() ? spaced + ":00" : spaced;
  }

  /** Without a length, TIME and BINARY of SQL mean TIME(0) and BINARY(1). */
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

  static String join(List<TypedExpression> operands, String separator) {
    return operands.stream().map(Object::toString).collect(Collectors.joining(separator, "(", ")"));
  }
}
