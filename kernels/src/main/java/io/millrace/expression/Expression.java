// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.typed.TypedExpression;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * An expression over the columns of a row, as it is written: columns by name, functions by name,
 * nothing checked. {@link ExpressionResolver} gives it types. Immutable; made by {@link
 * Expressions} and the methods of {@link FluentExpression}.
 *
 * <p>The meaning is that of Flink SQL: three-valued logic, wrapping integers, nulls in give null
 * out unless a function says otherwise.
 */
@PublicEvolving
public sealed interface Expression extends FluentExpression, Serializable {

  /** The value of the column {@code name}. */
  record ColumnReference(String name) implements Expression {
    private static final long serialVersionUID = 1L;

    public ColumnReference {
      Objects.requireNonNull(name, "name is null");
    }

    @Override
    public String toString() {
      return ExpressionText.of(this);
    }
  }

  /**
   * A constant.
   *
   * @param value of the class that {@link TypedExpression.Literal} names for the type, or null
   */
  record Literal(Serializable value, DataType type) implements Expression {
    private static final long serialVersionUID = 1L;

    public Literal {
      Objects.requireNonNull(type, "type is null");
    }

    @Override
    public String toString() {
      return ExpressionText.of(this);
    }
  }

  /**
   * A function or operator, by the name it has in {@link FunctionRegistry}. {@code AND}, {@code
   * OR}, {@code ||} and {@code +} of more than two arguments take them from left to right; so a
   * chain of them is one call, which is made of {@code call(call(a, b), c)}, and but for {@code +}
   * of {@code call(a, call(b, c))} too.
   */
  record Call(String function, List<Expression> arguments) implements Expression {
    private static final long serialVersionUID = 1L;
    private static final Set<String> CHAINED = Set.of("AND", "OR", "||", "+");

    public Call {
      Objects.requireNonNull(function, "function is null");
      arguments = flat(function, List.copyOf(arguments));
    }

    // At most one operand is taken apart: both, and x.or(x) again and again grows without measure.
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
      return ExpressionText.of(this);
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
   * A conversion.
   *
   * @param orNull whether a value that cannot be converted gives null (TRY_CAST) instead of failing
   */
  record Cast(Expression operand, DataType type, boolean orNull) implements Expression {
    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
      return ExpressionText.of(this);
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
   * {@code CASE WHEN condition THEN result ... ELSE otherwise END}: the result of the first
   * condition that is true. Later ones are not evaluated.
   *
   * @param results one a condition, and last the one for rows where no condition is true
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
      return ExpressionText.of(this);
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

  /** An expression with the name its column gets. */
  record Alias(Expression operand, String name) implements Expression {
    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
      return ExpressionText.of(this);
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
