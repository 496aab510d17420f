// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;
import io.millrace.kernel.hash.MurmurHash3;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;

/**
 * The keys of the rows of a batch, and the index that leads from a key to its state row, on the
 * host: what state_row.cuh and state_slots.cuh do on a GPU.
 *
 * @param hasNullWord whether state rows have a null word behind the words of the key
 * @param strings address of an INT64 for each chunk of the state's {@link LongStrings}: its
 *     address; 0 if keys have no strings
 */
@Internal
public record HostKeys(List<KeyWord> words, boolean hasNullWord, long strings) {
  private static final int HASH_SHIFT = 32;
  private static final int BUCKET_SLOTS = 4;
  // The second bucket of a key is near the first, so that one translation of addresses serves both.
  private static final long REGION_SLOTS = 1L << 18;
  private static final int SPREAD = 0x9e3779b9;
  private static final int SPREAD_SHIFT = 16;
  private static final long ROW_MASK = 0xffffffffL;

  /** The buckets of an index. */
  public static long buckets(long slots) {
    return slots / BUCKET_SLOTS;
  }

  /**
   * A number of slots that an index can have: a power of two, or a multiple of a region, at least
   * {@code slots}.
   */
  public static long indexSlots(long slots) {
    long regions = (slots + REGION_SLOTS - 1) / REGION_SLOTS;
    return regions > 1 ? regions * REGION_SLOTS : Long.highestOneBit(2 * slots - 1);
  }

  /** An entry of a hash table. */
  public static long entry(int hash, long row) {
    return (long) hash << HASH_SHIFT | (row + 1);
  }

  /** The hash of an entry's key. */
  public static int hashOf(long entry) {
    return (int) (entry >>> HASH_SHIFT);
  }

  /** The row of an entry. */
  public static long row(long entry) {
    return (entry & ROW_MASK) - 1;
  }

  /** The bits of the key columns that are null; 0 if none may be. */
  public long nullWord(int row) {
    long nulls = 0;
    if (hasNullWord) {
      for (KeyWord word : words) {
        if (word.nullBit() != KeyWord.NO_NULL_BIT && word.isNull(row)) {
          nulls |= 1L << word.nullBit();
        }
      }
    }
    return nulls;
  }

  public int hash(int row) {
    long hash = 0;
    for (KeyWord word : words) {
      hash = MurmurHash3.finish(hash * 31 + word.word(row));
      int count = word.isTail() ? word.stringWords(row) : 0;
      for (int i = 0; i < count; i++) {
        hash = MurmurHash3.finish(hash * 31 + word.stringWord(row, i));
      }
    }
    if (hasNullWord) {
      hash = MurmurHash3.finish(hash * 31 + nullWord(row));
    }
    return (int) (hash >>> HASH_SHIFT);
  }

  /**
   * The slot of a row's key in an index, or the empty slot for it.
   *
   * @param index address of an INT64 for each slot
   * @param slots as {@link #indexSlots} gives
   * @param rowAddress the address of a state row by its number
   */
  public long slot(int row, int hash, long index, long slots, LongUnaryOperator rowAddress) {
    return slot(hash, index, slots, number -> isKeyOf(row, rowAddress.applyAsLong(number)));
  }

  /**
   * The slot of a key in an index, or the empty slot for it: the first one in the two buckets where
   * the key may be, or if both are full, in the two behind them, and so on.
   *
   * @param isKeyOf whether the row with a number, whose key has the hash, has the key
   */
  public static long slot(int hash, long index, long slots, LongPredicate isKeyOf) {
    long buckets = buckets(slots);
    long first = (Integer.toUnsignedLong(hash) * buckets) >>> HASH_SHIFT;
    long region = Math.min(slots, REGION_SLOTS) / BUCKET_SLOTS - 1;
    int distance = ((hash * SPREAD) >>> SPREAD_SHIFT) | 1;
    long second = (first & ~region) | ((first + distance) & region);
    for (; ; first = (first + 1) % buckets, second = (second + 1) % buckets) {
      long slot = slotOfBucket(first, hash, index, isKeyOf);
      if (slot < 0) {
        slot = slotOfBucket(second, hash, index, isKeyOf);
      }
      if (slot >= 0) {
        return slot;
      }
    }
  }

  // -1 if the bucket is full, and has not the key.
  private static long slotOfBucket(long bucket, int hash, long index, LongPredicate isKeyOf) {
    long first = bucket * BUCKET_SLOTS;
    for (long slot = first; slot < first + BUCKET_SLOTS; slot++) {
      long entry = HostMemory.getLong(index + slot * Long.BYTES);
      if (entry == 0 || (hashOf(entry) == hash && isKeyOf.test(row(entry)))) {
        return slot;
      }
    }
    return -1;
  }

  private boolean isKeyOf(int row, long address) {
    for (int i = 0; i < words.size(); i++) {
      long stored = HostMemory.getLong(address + (long) i * Long.BYTES);
      if (!isStored(words.get(i), row, stored)) {
        return false;
      }
    }
    return !hasNullWord
        || nullWord(row) == HostMemory.getLong(address + (long) words.size() * Long.BYTES);
  }

  private boolean isStored(KeyWord word, int row, long stored) {
    int count = word.isTail() ? word.stringWords(row) : 0;
    if (count == 0) {
      return word.word(row) == stored;
    }
    for (int i = 0; i < count; i++) {
      long address = LongStrings.wordAddress(strings, stored + i);
      if (word.stringWord(row, i) != HostMemory.getLong(address)) {
        return false;
      }
    }
    return true;
  }
}
