// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.column.DataType;
import io.millrace.expression.typed.PostOrder;
import io.millrace.expression.typed.TypedText;
import io.millrace.expression.vector.TimestampNanos;
import io.millrace.expression.vector.ValueText;
import java.math.BigDecimal;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;

/**
 * Expressions as SQL, which Flink reads with the same meaning, cut as {@link TypedText#cut} does.
 */
final class ExpressionText {
  private final IdentityHashMap<Object, String> known = new IdentityHashMap<>();

  private ExpressionText() {}

  static String of(Expression expression) {
    return new ExpressionText().text(expression);
  }

  private String text(Expression expression) {
    PostOrder.visit(
        expression,
        ExpressionForm::operands,
        known::containsKey,
        node -> known.put(node, TypedText.cut(write(node))));
    return known.get(expression);
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
      return TypedText.branches(texts(branches.conditions()), texts(branches.results()));
    }
    return call((Expression.Call) expression);
  }

  private List<String> texts(List<Expression> expressions) {
    return expressions.stream().map(this::text).toList();
  }

  private String call(Expression.Call call) {
    List<String> arguments = texts(call.arguments());
    return CallSyntax.BUILT_IN
        .toSql(call.function(), arguments)
        .orElseGet(() -> call.function() + "(" + String.join(", ", arguments) + ")");
  }

  /** Every literal is one of its very type: what SQL would type otherwise is cast. */
  private static String literal(Object value, DataType type) {
    if (value == null) {
      return cast("NULL", type);
    }
    if (value instanceof TimestampNanos timestamp) {
      return cast("'" + ValueText.timestamp(timestamp) + "'", type);
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
      default -> cast("'" + ValueText.withSeconds(ValueText.of(type, (Long) value)) + "'", type);
    };
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
