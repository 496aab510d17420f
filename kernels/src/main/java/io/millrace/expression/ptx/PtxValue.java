// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.ptx;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import java.util.List;

/**
 * A value in registers of a generated kernel.
 *
 * @param registers one register, or two for two-part values (DECIMAL128: low and high;
 *     TIMESTAMP(7..9): milliseconds and nanoseconds; STRING and BINARY: address and length); a
 *     predicate for BOOL
 * @param valid predicate register that is true if the value is not null; null if the value is never
 *     null
 */
@Internal
public record PtxValue(DataType type, List<String> registers, String valid) {
  public PtxValue {
    registers = List.copyOf(registers);
  }

  /** The first register. */
  public String register() {
    return registers.get(0);
  }

  /** The second register of a two-part value. */
  public String secondPart() {
    return registers.get(1);
  }

  public PtxValue withValid(String predicate) {
    return new PtxValue(type, registers, predicate);
  }
}
