// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import java.nio.charset.StandardCharsets;

/** Bytes of STRING literals. */
@Internal
public final class ConstantBytes {
  private ConstantBytes() {}

  /** The UTF-8 bytes; an empty array for a null. */
  public static byte[] of(TypedExpression.Literal literal) {
    return literal.value() == null
        ? new byte[0]
        : ((String) literal.value()).getBytes(StandardCharsets.UTF_8);
  }
}
