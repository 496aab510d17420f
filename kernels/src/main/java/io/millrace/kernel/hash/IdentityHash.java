// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.hash;

/** The value itself, as libcudf's HASH_IDENTITY. */
final class IdentityHash {
  private IdentityHash() {}

  // Floating point saturates as the GPU converts it: NaN is 0 for float and 2^31 for double.
  static void hash(KeyVector column, int count, int[] hashes) {
    long[] values = column.values();
    switch (column.id()) {
      case BOOL, INT8, INT16, INT32, INT64 -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = (int) values[i];
        }
      }
      case FLOAT32 -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = saturate(Float.intBitsToFloat((int) values[i]), 0);
        }
      }
      case FLOAT64 -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = saturate(Double.longBitsToDouble(values[i]), 0x80000000);
        }
      }
      default -> throw new IllegalArgumentException(column.id() + " has no identity hash");
    }
  }

  private static int saturate(double value, int notANumber) {
    if (Double.isNaN(value)) {
      return notANumber;
    }
    return (int) (long) Math.min(Math.max(value, 0), 0xffffffffL);
  }
}
