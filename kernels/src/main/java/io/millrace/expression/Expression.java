// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.typed.TypedExpression;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * An expression over the columns of a row, as the user writes it: columns and functions are names,
 * nothing is checked yet. {@link ExpressionResolver} assigns types. Immutable. Created by {@link
 * Expressions} and the methods of {@link FluentExpression}.
 *
 * <p>Semantics are those of Flink SQL: three-valued logic, integers that wrap, and a null result
 * for a null argument unless a function documents otherwise.
 */
@PublicEvolving
public sealed interface Expression extends FluentExpression, Serializable {

  /**
   * Returns {@code value} itself if it is an expression, otherwise a literal.
   *
   * @throws IllegalArgumentException as {@link Literal#of}
   */
  static Expression of(Object value) {
    return value instanceof Expression expression ? expression : Literal.of(value);
  }

  /** The value of the column {@code name}. */
  record ColumnReference(String name) implements Expression {
    private static final long serialVersionUID = 1L;

    public ColumnReference {
      Objects.requireNonNull(name, "name is null");
    }

    @Override
    public String toString() {
      return ExpressionForm.of(this).toString();
    }
  }

  /**
   * A constant.
   *
   * @param value null or an instance of the class that {@link TypedExpression.Literal} lists for
   *     the type
   */
  record Literal(Serializable value, DataType type) implements Expression {
    private static final long serialVersionUID = 1L;

    public Literal {
      Objects.requireNonNull(type, "type is null");
    }

    /**
     * A literal with the type that SQL gives to the value: Boolean, Byte to Long, Float, Double,
     * BigDecimal (as many digits as it has), String, {@code byte[]}, LocalDate, LocalTime,
     * LocalDateTime and Instant (fraction digits 3, 6 or 9, as the value needs).
     *
     * @throws IllegalArgumentException if the value is null or of another class, or has more than
     *     38 digits
     */
    public static Literal of(Object value) {
      return of(value, LiteralValues.typeOf(value));
    }

    /**
     * A literal of a given type.
     *
     * @param value null, a Boolean, any Number for a numeric type, a String, a {@code byte[]}, a
     *     LocalDate, a LocalTime, a LocalDateTime for TIMESTAMP or an Instant for TIMESTAMP_LTZ
     * @throws IllegalArgumentException if the value is of another class, or the type does not have
     *     it, such as a number with more digits
     */
    public static Literal of(Object value, DataType type) {
      return new Literal(value == null ? null : LiteralValues.of(value, type), type);
    }

    @Override
    public String toString() {
      return ExpressionForm.of(this).toString();
    }
  }

  /**
   * A call of a function or operator by its name in {@link FunctionRegistry}. {@code AND}, {@code
   * OR}, {@code ||} and {@code +} take more than two arguments and evaluate them from left to
   * right. Nested calls of these operators are flattened into one call: {@code call(call(a, b),
   * c)}, and except for {@code +} also {@code call(a, call(b, c))}.
   */
  record Call(String function, List<Expression> arguments) implements Expression {
    private static final long serialVersionUID = 1L;
    private static final Set<String> CHAINED = Set.of("AND", "OR", "||", "+");

    public Call {
      Objects.requireNonNull(function, "function is null");
      arguments = flat(function, List.copyOf(arguments));
    }

    /** Calls {@code function} with arguments that are expressions or values of literals. */
    public static Call of(String function, Object... arguments) {
      return new Call(function, Arrays.stream(arguments).map(Expression::of).toList());
    }

    // Flatten at most one operand: flattening both makes repeated x.or(x) grow exponentially.
    private static List<Expression> flat(String function, List<Expression> arguments) {
      if (arguments.size() < 2 || !CHAINED.contains(function)) {
        return arguments;
      }
      int last = arguments.size() - 1;
      List<Expression> all = new ArrayList<>();
      if (arguments.get(0) instanceof Call first && first.function().equals(function)) {
        all.addAll(first.arguments());
        all.addAll(arguments.subList(1, arguments.size()));
      } else if (!function.equals("+")
          && arguments.get(last) instanceof Call rest
          && rest.function().equals(function)) {
        all.addAll(arguments.subList(0, last));
        all.addAll(rest.arguments());
      } else {
        return arguments;
      }
      return List.copyOf(all);
    }

    @Override
    public String toString() {
      return ExpressionForm.of(this).toString();
    }

    @Override
    public boolean equals(Object other) {
      return this == other
          || (other instanceof Call that
              && ExpressionForm.of(this).equals(ExpressionForm.of(that)));
    }

    @Override
    public int hashCode() {
      return ExpressionForm.of(this).hashCode();
    }

    private Object writeReplace() {
      return ExpressionForm.of(this);
    }
  }

  /**
   * A type conversion.
   *
   * @param orNull true for TRY_CAST: a value that cannot be converted gives null instead of failing
   */
  record Cast(Expression operand, DataType type, boolean orNull) implements Expression {
    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
      return ExpressionForm.of(this).toString();
    }

    @Override
    public boolean equals(Object other) {
      return this == other
          || (other instanceof Cast that
              && ExpressionForm.of(this).equals(ExpressionForm.of(that)));
    }

    @Override
    public int hashCode() {
      return ExpressionForm.of(this).hashCode();
    }

    private Object writeReplace() {
      return ExpressionForm.of(this);
    }
  }

  /**
   * {@code CASE WHEN condition THEN result ... ELSE otherwise END}: the result of the first true
   * condition. Later conditions are not evaluated.
   *
   * @param results one result per condition, followed by the ELSE result
   */
  record Case(List<Expression> conditions, List<Expression> results) implements Expression {
    private static final long serialVersionUID = 1L;

    public Case {
      conditions = List.copyOf(conditions);
      results = List.copyOf(results);
      if (conditions.isEmpty() || results.size() != conditions.size() + 1) {
        throw new IllegalArgumentException(
            conditions.size() + " conditions with " + results.size() + " results");
      }
    }

    @Override
    public String toString() {
      return ExpressionForm.of(this).toString();
    }

    @Override
    public boolean equals(Object other) {
      return this == other
          || (other instanceof Case that
              && ExpressionForm.of(this).equals(ExpressionForm.of(that)));
    }

    @Override
    public int hashCode() {
      return ExpressionForm.of(this).hashCode();
    }

    private Object writeReplace() {
      return ExpressionForm.of(this);
    }
  }

  /** The field {@code name} of a ROW; null if the row is null. */
  record FieldAccess(Expression row, String name) implements Expression {
    private static final long serialVersionUID = 1L;

    public FieldAccess {
      Objects.requireNonNull(name, "name is null");
    }

    @Override
    public String toString() {
      return ExpressionForm.of(this).toString();
    }

    @Override
    public boolean equals(Object other) {
      return this == other
          || (other instanceof FieldAccess that
              && ExpressionForm.of(this).equals(ExpressionForm.of(that)));
    }

    @Override
    public int hashCode() {
      return ExpressionForm.of(this).hashCode();
    }

    private Object writeReplace() {
      return ExpressionForm.of(this);
    }
  }

  /** An expression with a name for its output column. */
  record Alias(Expression operand, String name) implements Expression {
    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
      return ExpressionForm.of(this).toString();
    }

    @Override
    public boolean equals(Object other) {
      return this == other
          || (other instanceof Alias that
              && ExpressionForm.of(this).equals(ExpressionForm.of(that)));
    }

    @Override
    public int hashCode() {
      return ExpressionForm.of(this).hashCode();
    }

    private Object writeReplace() {
      return ExpressionForm.of(this);
    }
  }
}
