package io.millrace.expression;

import java.util.Optional;

/** Calls of literals, which are evaluated once, when an expression gets its types. */
public final class ConstantFolding {
  private ConstantFolding() {}

  /**
   * The value of a call, by its host function.
   *
   * @param call whose operands are literals, none of them null
   * @return empty if it fails
   */
  public static Optional<TypedExpression.Literal> fold(TypedExpression.Call call) {
    try (ByteArena arena = new ByteArena()) {
      HostVector[] operands =
          call.operands().stream()
              .map(operand -> vector((TypedExpression.Literal) operand, arena))
              .toArray(HostVector[]::new);
      HostVector result = new HostVector(call.type(), arena);
      boolean[] failed = new boolean[1];
      Rows one = Rows.all(1, (row, status, cause) -> failed[0] = true);
      call.function().host().evaluate(operands, result, one);
      return failed[0]
          ? Optional.empty()
          : Optional.of(new TypedExpression.Literal(result.getLiteral(0), call.type()));
    }
  }

  private static HostVector vector(TypedExpression.Literal literal, ByteArena arena) {
    HostVector vector = new HostVector(literal.type(), arena);
    vector.setLiteral(0, literal.value());
    return vector;
  }
}
