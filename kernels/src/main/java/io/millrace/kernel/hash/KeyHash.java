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
public final class KeyHash {
  private final KeyVector[] columns;
  private final ChunkHash function;

  private KeyHash(KeyVector[] columns, ChunkHash function) {
    this.columns = columns;
    this.function = function;
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
    return new KeyHash(
        levels.toArray(KeyVector[]::new), chunkHash(function, nullsPresent, capacity));
  }

  private static ChunkHash chunkHash(HashFunction function, boolean nullsPresent, int capacity) {
    return switch (function.algorithm()) {
      case MURMUR3_32 ->
          new LibcudfHash(
              nullsPresent,
              capacity,
              (column, count, hashes) -> MurmurHash3.hash(column, function.seed(), count, hashes));
      case IDENTITY -> new LibcudfHash(nullsPresent, capacity, IdentityHash::hash);
      case FLINK_JAVA -> new JavaHash(capacity);
      case FLINK_BINARY_ROW -> new BinaryRowHash(capacity);
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
  public void hash(int first, int count, int[] hashes) {
    for (KeyVector column : columns) {
      column.load(first, count);
    }
    function.hash(columns, count, hashes);
  }
}
