package io.millrace.expression;

import io.millrace.column.DataType;
import java.io.Serializable;
import java.util.List;
import java.util.Objects;

/**
 * An expression over the columns of a row, as it is written: columns by name, functions by name,
 * nothing checked. {@link ExpressionResolver} gives it types. Immutable; made by {@link
 * Expressions} and the methods of {@link FluentExpression}.
 *
 * <p>The meaning is that of Flink SQL: three-valued logic, wrapping integers, nulls in give null
 * out unless a function says otherwise.
 */
public sealed interface Expression extends FluentExpression, Serializable {

  /** The value of the column {@code name}. */
  record ColumnReference(String name) implements Expression {
    private static final long serialVersionUID = 1L;

    public ColumnReference {
      Objects.requireNonNull(name, "name is null");
    }

    @Override
    public String toString() {
      return SqlText.of(this);
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
      return SqlText.of(this);
    }
  }

  /** A function or operator, by the name it has in {@link FunctionRegistry}. */
  record Call(String function, List<Expression> arguments) implements Expression {
    private static final long serialVersionUID = 1L;

    public Call {
      Objects.requireNonNull(function, "function is null");
      arguments = List.copyOf(arguments);
    }

    @Override
    public String toString() {
      return SqlText.of(this);
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
      return SqlText.of(this);
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
      return SqlText.of(this);
    }
  }

  /** An expression with the name its column gets. */
  record Alias(Expression operand, String name) implements Expression {
    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
      return SqlText.of(this);
    }
  }
}
