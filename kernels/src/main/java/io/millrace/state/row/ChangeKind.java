// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.PublicEvolving;

/** What happens to a row of a changelog, with the byte values of Flink's row kinds. */
@PublicEvolving
public enum ChangeKind {
  /** There is no such row. */
  NONE(-1),
  INSERT(0),
  UPDATE_BEFORE(1),
  UPDATE_AFTER(2),
  DELETE(3);

  private final byte value;

  ChangeKind(int value) {
    this.value = (byte) value;
  }

  /** The value of a row in a column of kinds. */
  public byte value() {
    return value;
  }

  /** Whether a row of this kind takes back an earlier row. */
  public static boolean isRetraction(byte value) {
    return value == UPDATE_BEFORE.value || value == DELETE.value;
  }
}
