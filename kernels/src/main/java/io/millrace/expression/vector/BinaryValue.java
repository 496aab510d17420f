// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.PublicEvolving;
import java.io.Serializable;
import java.util.Arrays;
import java.util.HexFormat;

/** A value of BINARY: bytes, compared by content. Immutable. */
@PublicEvolving
public final class BinaryValue implements Serializable {
  private static final long serialVersionUID = 1L;

  private final byte[] bytes;

  /** Copies {@code bytes}. */
  public BinaryValue(byte[] bytes) {
    this.bytes = bytes.clone();
  }

  /** A copy of the bytes. */
  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BinaryValue that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** The bytes as SQL: {@code x'00ff'}. */
  @Override
  public String toString() {
    return "x'" + HexFormat.of().formatHex(bytes) + "'";
  }
}
