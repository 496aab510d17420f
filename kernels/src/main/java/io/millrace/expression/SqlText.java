package io.millrace.expression;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import java.math.BigDecimal;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;

/**
 * Expressions as SQL, which Flink reads with the same meaning. An expression that is used twice is
 * written twice, so a text may be long beyond all measure: it ends with an ellipsis behind its
 * first {@value #MAXIMUM_LENGTH} characters.
 */
final class SqlText {
  private static final int MAXIMUM_LENGTH = 10_000;

  private final IdentityHashMap<Object, String> known = new IdentityHashMap<>();

  private SqlText() {}

  static String of(Expression expression) {
    return new SqlText().text(expression);
  }

  static String of(TypedExpression expression) {
    return new SqlText().text(expression);
  }

  private String text(TypedExpression expression) {
    PostOrder.visit(
        expression,
        TypedExpression::operands,
        known::containsKey,
        node -> {
          List<String> operands = node.operands().stream().map(known::get).toList();
          known.put(node, cut(node.toSql(operands)));
        });
    return known.get(expression);
  }

  private String text(Expression expression) {
    PostOrder.visit(
        expression,
        ExpressionForm::operands,
        known::containsKey,
        node -> known.put(node, cut(write(node))));
    return known.get(expression);
  }

  private static String cut(String text) {
    return text.length() <= MAXIMUM_LENGTH ? text : text.substring(0, MAXIMUM_LENGTH) + "...";
  }

  private String write(Expression expression) {
    if (expression instanceof Expression.ColumnReference reference) {
      return "`" + reference.name().replace("`", "``") + "`";
    } else if (expression instanceof Expression.Literal literal) {
      return literal(literal.value(), literal.type());
    } else if (expression instanceof Expression.Alias alias) {
      return text(alias.operand()) + " AS `" + alias.name().replace("`", "``") + "`";
    } else if (expression instanceof Expression.Cast cast) {
      String function = cast.orNull() ? "TRY_CAST(" : "CAST(";
      return function + text(cast.operand()) + " AS " + type(cast.type()) + ")";
    } else if (expression instanceof Expression.Case branches) {
      return branches(texts(branches.conditions()), texts(branches.results()));
    }
    return call((Expression.Call) expression);
  }

  private List<String> texts(List<Expression> expressions) {
    return expressions.stream().map(this::text).toList();
  }

  /**
   * @param results one a condition, and last the one behind ELSE
   */
  static String branches(List<String> conditions, List<String> results) {
    StringBuilder sql = new StringBuilder("CASE");
    for (int i = 0; i < conditions.size(); i++) {
      sql.append(" WHEN ").append(conditions.get(i)).append(" THEN ").append(results.get(i));
    }
    return sql.append(" ELSE ").append(results.get(conditions.size())).append(" END").toString();
  }

  private String call(Expression.Call call) {
    List<String> arguments = texts(call.arguments());
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

  static String timestamp(TimestampNanos timestamp) {
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
}
