package io.millrace.expression;

import io.millrace.expression.TypedExpression.Call;
import java.util.List;

/** Puts expressions in the place of the input columns of others. */
final class Substitution {
  private final List<TypedExpression> columns;

  /**
   * @param columns what each input column becomes
   */
  Substitution(List<TypedExpression> columns) {
    this.columns = columns;
  }

  /**
   * What {@code expression} means over the inputs of the columns. Types and functions stay as they
   * were bound.
   */
  TypedExpression apply(TypedExpression expression) {
    if (expression instanceof TypedExpression.InputReference reference) {
      return columns.get(reference.index());
    } else if (expression instanceof TypedExpression.Literal) {
      return expression;
    } else if (expression instanceof Call call) {
      return call(call);
    } else if (expression instanceof TypedExpression.Try attempt) {
      return new TypedExpression.Try(call(attempt.call()));
    } else if (expression instanceof TypedExpression.IsNull test) {
      return new TypedExpression.IsNull(apply(test.operand()));
    } else if (expression instanceof TypedExpression.And conjunction) {
      return new TypedExpression.And(all(conjunction.operands()));
    } else if (expression instanceof TypedExpression.Or disjunction) {
      return new TypedExpression.Or(all(disjunction.operands()));
    }
    TypedExpression.Case branches = (TypedExpression.Case) expression;
    return new TypedExpression.Case(
        all(branches.conditions()), all(branches.results()), branches.nullable());
  }

  private Call call(Call call) {
    return new Call(call.function(), all(call.operands()), call.type(), call.nullable());
  }

  List<TypedExpression> all(List<TypedExpression> expressions) {
    return expressions.stream().map(this::apply).toList();
  }
}
