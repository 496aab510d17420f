// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import io.millrace.expression.vector.BinaryValue;
import java.nio.charset.StandardCharsets;

/** Bytes of STRING and BINARY literals. */
@Internal
public final class ConstantBytes {
  private ConstantBytes() {}

  /** The bytes, of a STRING in UTF-8; an empty array for a null. */
  public static byte[] of(TypedExpression.Literal literal) {
    if (literal.value() instanceof BinaryValue binary) {
      return binary.bytes();
    }
    return literal.value() == null
        ? new byte[0]
        : ((String) literal.value()).getBytes(StandardCharsets.UTF_8);
  }
}
