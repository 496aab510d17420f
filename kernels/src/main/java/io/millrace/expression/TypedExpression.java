package io.millrace.expression;

import io.millrace.column.DataType;
import java.util.List;
import java.util.stream.Stream;

/**
 * An expression whose types are known and whose functions are bound: what both evaluators take.
 * Immutable; equal expressions have equal values in a row, so an evaluator computes each once.
 */
public sealed interface TypedExpression {

  DataType type();

  /** Whether some row may give null. */
  boolean nullable();

  List<TypedExpression> operands();

  /** The value of an input column. */
  record InputReference(int index, String name, DataType type, boolean nullable)
      implements TypedExpression {
    @Override
    public List<TypedExpression> operands() {
      return List.of();
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /**
   * A constant.
   *
   * @param value null, or for BOOL a Boolean; for integers, DATE, TIME and TIMESTAMP(0..6) a Long
   *     of the stored value; for floating point a Float or Double; for decimals a BigDecimal of the
   *     type's scale; for TIMESTAMP(7..9) a {@link TimestampNanos}; for STRING a String
   */
  record Literal(Object value, DataType type) implements TypedExpression {
    @Override
    public boolean nullable() {
      return value == null;
    }

    @Override
    public List<TypedExpression> operands() {
      return List.of();
    }

    @Override
    public String toString() {
      return value instanceof String ? "'" + value + "'" : String.valueOf(value);
    }
  }

  /** The row's position in its table. */
  record RowNumber() implements TypedExpression {
    @Override
    public DataType type() {
      return DataType.INT32;
    }

    @Override
    public boolean nullable() {
      return false;
    }

    @Override
    public List<TypedExpression> operands() {
      return List.of();
    }
  }

  /** A function of its operands; null where one of them is null. */
  record Call(
      BoundFunction function, List<TypedExpression> operands, DataType type, boolean nullable)
      implements TypedExpression {
    public Call {
      operands = List.copyOf(operands);
    }

    @Override
    public String toString() {
      return function.toSql(operands.stream().map(Object::toString).toList());
    }
  }

  /** Whether all are true; an operand is not evaluated for rows where an earlier one is false. */
  record And(List<TypedExpression> operands) implements TypedExpression {
    public And {
      operands = List.copyOf(operands);
    }

    @Override
    public DataType type() {
      return DataType.BOOL;
    }

    @Override
    public boolean nullable() {
      return operands.stream().anyMatch(TypedExpression::nullable);
    }

    @Override
    public String toString() {
      return SqlText.join(operands, " AND ");
    }
  }

  /** Whether one is true; an operand is not evaluated for rows where an earlier one is true. */
  record Or(List<TypedExpression> operands) implements TypedExpression {
    public Or {
      operands = List.copyOf(operands);
    }

    @Override
    public DataType type() {
      return DataType.BOOL;
    }

    @Override
    public boolean nullable() {
      return operands.stream().anyMatch(TypedExpression::nullable);
    }

    @Override
    public String toString() {
      return SqlText.join(operands, " OR ");
    }
  }

  /** Whether the operand is null. Never null itself. */
  record IsNull(TypedExpression operand) implements TypedExpression {
    @Override
    public DataType type() {
      return DataType.BOOL;
    }

    @Override
    public boolean nullable() {
      return false;
    }

    @Override
    public List<TypedExpression> operands() {
      return List.of(operand);
    }

    @Override
    public String toString() {
      return "(" + operand + " IS NULL)";
    }
  }

  /**
   * The result of the first condition that is true; what comes after it is not evaluated.
   *
   * @param results one a condition, and last the one for rows where no condition is true; all of
   *     one type
   * @param nullable false only if no row gives null, whatever the results' types say; may be true
   *     though none of them is nullable
   */
  record Case(List<TypedExpression> conditions, List<TypedExpression> results, boolean nullable)
      implements TypedExpression {
    public Case {
      conditions = List.copyOf(conditions);
      results = List.copyOf(results);
    }

    /** Nullable if a result is. */
    public Case(List<TypedExpression> conditions, List<TypedExpression> results) {
      this(conditions, results, results.stream().anyMatch(TypedExpression::nullable));
    }

    @Override
    public DataType type() {
      return results.get(0).type();
    }

    @Override
    public List<TypedExpression> operands() {
      return Stream.concat(conditions.stream(), results.stream()).toList();
    }

    @Override
    public String toString() {
      StringBuilder sql = new StringBuilder("CASE");
      for (int i = 0; i < conditions.size(); i++) {
        sql.append(" WHEN ").append(conditions.get(i)).append(" THEN ").append(results.get(i));
      }
      return sql.append(" ELSE ").append(results.get(conditions.size())).append(" END").toString();
    }
  }

  /** The call's value, or null for rows for which it fails. */
  record Try(Call call) implements TypedExpression {
    @Override
    public DataType type() {
      return call.type();
    }

    @Override
    public boolean nullable() {
      return true;
    }

    @Override
    public List<TypedExpression> operands() {
      return call.operands();
    }

    @Override
    public String toString() {
      return "TRY_" + call;
    }
  }
}
