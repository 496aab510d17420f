package io.millrace.expression;

import java.nio.charset.StandardCharsets;

/** The bytes of STRING literals. */
final class ConstantBytes {
  private ConstantBytes() {}

  /** UTF-8; none of a null. */
  static byte[] of(TypedExpression.Literal literal) {
    return literal.value() == null
        ? new byte[0]
        : ((String) literal.value()).getBytes(StandardCharsets.UTF_8);
  }
}
