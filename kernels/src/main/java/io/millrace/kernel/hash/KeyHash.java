// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.hash;

import io.millrace.annotation.Internal;
import io.millrace.column.ColumnReader;
import io.millrace.column.TypeId;
import java.util.ArrayList;
import java.util.List;

/**
 * Hashes the rows of key columns in host memory, one chunk of rows at a time: the host
 * implementation of hash.cuh. A function runs one loop per column of a chunk.
 */
@Internal
public abstract class KeyHash {
  private final KeyVector[] columns;

  /**
   * @param columns key columns and struct levels; the fields of a struct follow it, depth first
   */
  KeyHash(KeyVector[] columns) {
    this.columns = columns;
  }

  /**
   * The hash of rows of {@code keys}.
   *
   * @param nullsPresent whether struct levels count
   * @param capacity the largest number of rows of a chunk
   */
  public static KeyHash of(
      HashFunction function, boolean nullsPresent, List<ColumnReader> keys, int capacity) {
    List<KeyVector> levels = new ArrayList<>();
    keys.forEach(key -> add(key, null, capacity, levels));
    KeyVector[] columns = levels.toArray(KeyVector[]::new);
    return switch (function.algorithm()) {
      case MURMUR3_32 ->
          new LibcudfHash(
              columns,
              nullsPresent,
              capacity,
              (column, count, hashes) -> MurmurHash3.hash(column, function.seed(), count, hashes));
      case IDENTITY -> new LibcudfHash(columns, nullsPresent, capacity, IdentityHash::hash);
      case FLINK_JAVA -> new JavaHash(columns, capacity);
      case FLINK_BINARY_ROW -> new BinaryRowHash(columns, capacity);
    };
  }

  private static void add(
      ColumnReader reader, KeyVector parent, int capacity, List<KeyVector> levels) {
    KeyVector level = new KeyVector(reader, parent, capacity);
    levels.add(level);
    if (reader.type().id() == TypeId.STRUCT) {
      for (int i = 0; i < reader.type().fields().size(); i++) {
        add(reader.field(i), level, capacity, levels);
      }
    }
  }

  /** Writes the hashes of {@code count} rows from {@code first} on, {@code capacity} at most. */
  public final void hash(int first, int count, int[] hashes) {
    for (KeyVector column : columns) {
      column.load(first, count);
    }
    hash(count, hashes);
  }

  /** Writes the hashes of the first {@code count} rows of the columns' chunk. */
  abstract void hash(int count, int[] hashes);

  final KeyVector[] columns() {
    return columns;
  }
}
