// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.Call;
import io.millrace.expression.typed.TypedExpression.Literal;
import io.millrace.expression.vector.ByteArena;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Evaluates calls of literals once, when an expression is resolved. */
@Internal
public final class ConstantFolding {
  private ConstantFolding() {}

  /**
   * Evaluates a call with its host function.
   *
   * @param call a call with non-null literals as operands
   * @return empty if it fails
   */
  public static Optional<Literal> fold(Call call) {
    return foldAlike(List.of(call)).get(0);
  }

  /**
   * Folds expressions into literals.
   *
   * @return one element per expression: the literal itself, or the value of a call of non-null
   *     literals; empty for other expressions and if the call fails
   */
  public static List<Optional<Literal>> foldAll(List<TypedExpression> expressions) {
    List<Optional<Literal>> literals = new ArrayList<>(expressions.size());
    List<Call> alike = new ArrayList<>();
    for (TypedExpression expression : expressions) {
      boolean isCall = isCallOfLiterals(expression);
      boolean ends = alike.size() == HostVector.CAPACITY;
      if (!alike.isEmpty() && (ends || !isCall || !areAlike(alike.get(0), (Call) expression))) {
        literals.addAll(foldAlike(alike));
        alike.clear();
      }
      if (isCall) {
        alike.add((Call) expression);
      } else {
        literals.add(
            expression instanceof Literal literal ? Optional.of(literal) : Optional.empty());
      }
    }
    literals.addAll(alike.isEmpty() ? List.of() : foldAlike(alike));
    return literals;
  }

  private static boolean isCallOfLiterals(TypedExpression expression) {
    boolean isCall =
        expression instanceof Call
            && !expression.operands().isEmpty()
            && expression.type().id().isScalar();
    for (int i = 0; isCall && i < expression.operands().size(); i++) {
      isCall = expression.operands().get(i) instanceof Literal literal && literal.value() != null;
    }
    return isCall;
  }

  private static boolean areAlike(Call left, Call right) {
    boolean areAlike =
        left.type().equals(right.type())
            && left.function().equals(right.function())
            && left.operands().size() == right.operands().size();
    for (int i = 0; areAlike && i < left.operands().size(); i++) {
      areAlike = left.operands().get(i).type().equals(right.operands().get(i).type());
    }
    return areAlike;
  }

  /** Evaluates at most one vector of calls of the same function with operands of the same types. */
  private static List<Optional<Literal>> foldAlike(List<Call> calls) {
    try (ByteArena arena = new ByteArena()) {
      Call first = calls.get(0);
      HostVector[] operands = new HostVector[first.operands().size()];
      for (int i = 0; i < operands.length; i++) {
        operands[i] = new HostVector(first.operands().get(i).type(), arena);
        for (int row = 0; row < calls.size(); row++) {
          operands[i].setLiteral(row, ((Literal) calls.get(row).operands().get(i)).value());
        }
      }
      HostVector result = new HostVector(first.type(), arena);
      boolean[] failed = new boolean[calls.size()];
      Rows rows = Rows.all(calls.size(), (row, status, cause) -> failed[row] = true);
      first.function().host().evaluate(operands, result, rows);
      List<Optional<Literal>> literals = new ArrayList<>(calls.size());
      for (int row = 0; row < failed.length; row++) {
        literals.add(
            failed[row]
                ? Optional.empty()
                : Optional.of(new Literal(result.getLiteral(row), first.type())));
      }
      return literals;
    }
  }
}
