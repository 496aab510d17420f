// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.hash;

import io.millrace.column.TypeId;
import java.util.Arrays;

/**
 * Joins the hashes of several columns as libcudf does. A struct is split into one column per leaf;
 * struct levels stay with the first leaf.
 */
final class LibcudfHash implements ChunkHash {
  private static final int NULL_HASH = 0xffffffff;

  /** The hash of the elements of one column. */
  interface ColumnHash {
    /** Writes the hashes of the first {@code count} rows; hashes of nulls are undefined. */
    void hash(KeyVector column, int count, int[] hashes);
  }

  private final boolean nullsPresent;
  private final ColumnHash columnHash;
  private final int[] leaves;
  private final int[] levels;

  /**
   * @param nullsPresent whether struct levels count
   */
  LibcudfHash(boolean nullsPresent, int capacity, ColumnHash columnHash) {
    this.nullsPresent = nullsPresent;
    this.columnHash = columnHash;
    this.leaves = new int[capacity];
    this.levels = new int[capacity];
  }

  @Override
  public void hash(KeyVector[] columns, int count, int[] hashes) {
    boolean isBelowLevels = false;
    boolean isFirst = true;
    for (KeyVector column : columns) {
      if (column.id() == TypeId.STRUCT) {
        addLevel(column, count, isBelowLevels);
        isBelowLevels = true;
        continue;
      }
      int[] leaf = isFirst ? hashes : leaves;
      columnHash.hash(column, count, leaf);
      column.replaceNulls(leaf, count, NULL_HASH);
      if (isBelowLevels) {
        combine(levels, leaf, leaf, count);
      }
      if (!isFirst) {
        combine(hashes, leaf, hashes, count);
      }
      isBelowLevels = false;
      isFirst = false;
    }
  }

  private void addLevel(KeyVector struct, int count, boolean isBelowLevels) {
    if (!isBelowLevels) {
      Arrays.fill(levels, 0, count, 0);
    }
    if (nullsPresent) {
      for (int i = 0; i < count; i++) {
        levels[i] = combine(levels[i], struct.isNull(i) ? NULL_HASH : 0);
      }
    }
  }

  private static void combine(int[] left, int[] right, int[] result, int count) {
    for (int i = 0; i < count; i++) {
      result[i] = combine(left[i], right[i]);
    }
  }

  private static int combine(int left, int right) {
    return left ^ (right + 0x9e3779b9 + (left << 6) + (left >>> 2));
  }
}
