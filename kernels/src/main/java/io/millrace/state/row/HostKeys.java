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
 */
@Internal
public final class HostKeys {
  private static final int HASH_SHIFT = 32;
  private static final int BUCKET_SLOTS = 4;
  // The second bucket of a key is near the first, so that one translation of addresses serves both.
  private static final long REGION_SLOTS = 1L << 18;
  private static final int SPREAD = 0x9e3779b9;
  private static final int SPREAD_SHIFT = 16;
  private static final long ROW_MASK = 0xffffffffL;

  private final List<KeyWord> words;
  private final boolean hasNullWord;
  private final long strings;
  private final int wordCount;
  private final boolean[] isTail;
  // The words of all rows, row by row; null if they are read from their columns.
  private final long[] values;
  // The hashes of all rows, if their words are here.
  private final int[] hashes;
  // False if no row has a string longer than its head and tail, so that nothing looks for one.
  private final boolean mayHaveLongStrings;

  private HostKeys(List<KeyWord> words, boolean hasNullWord, long strings, int readRows) {
    this.words = words;
    this.hasNullWord = hasNullWord;
    this.strings = strings;
    this.wordCount = words.size() + (hasNullWord ? 1 : 0);
    this.isTail = new boolean[wordCount];
    for (int i = 0; i < words.size(); i++) {
      isTail[i] = words.get(i).isTail();
    }
    this.values = readRows == 0 ? null : read(readRows);
    this.mayHaveLongStrings = readRows == 0 || hasLongStrings(readRows);
    this.hashes = values == null ? null : hashAll(readRows);
  }

  /**
   * Keys of which few rows are asked for.
   *
   * @param hasNullWord whether state rows have a null word behind the words of the key
   * @param strings address of an INT64 for each chunk of the state's {@link LongStrings}: its
   *     address; 0 if keys have no strings
   */
  public static HostKeys of(List<KeyWord> words, boolean hasNullWord, long strings) {
    return new HostKeys(words, hasNullWord, strings, 0);
  }

  /**
   * Keys of which all rows are asked for, and in any order: their words are read once, column by
   * column.
   *
   * @param rows of the batch
   * @see #of
   */
  public static HostKeys ofAll(List<KeyWord> words, boolean hasNullWord, long strings, int rows) {
    return new HostKeys(words, hasNullWord, strings, rows);
  }

  private long[] read(int rows) {
    long[] read = new long[Math.multiplyExact(rows, wordCount)];
    for (int i = 0; i < words.size(); i++) {
      KeyWord word = words.get(i);
      for (int row = 0; row < rows; row++) {
        read[row * wordCount + i] = word.word(row);
      }
    }
    if (hasNullWord && words.stream().anyMatch(word -> word.validity() != 0)) {
      for (int row = 0; row < rows; row++) {
        read[row * wordCount + words.size()] = nullWord(row);
      }
    }
    return read;
  }

  private boolean hasLongStrings(int rows) {
    for (int i = 0; i < wordCount; i++) {
      for (int row = 0; isTail[i] && row < rows; row++) {
        if (LongStrings.words((int) values[row * wordCount + i - 1]) > 0) {
          return true;
        }
      }
    }
    return false;
  }

  private int[] hashAll(int rows) {
    int[] all = new int[rows];
    for (int row = 0; row < rows; row++) {
      all[row] = mayHaveLongStrings ? computeHash(row) : hashOfWords(row * wordCount);
    }
    return all;
  }

  private int hashOfWords(int first) {
    long hash = 0;
    for (int i = first; i < first + wordCount; i++) {
      hash = MurmurHash3.finish(hash * 31 + values[i]);
    }
    return (int) (hash >>> HASH_SHIFT);
  }

  private long columnWord(int row, int i) {
    return i < words.size() ? words.get(i).word(row) : nullWord(row);
  }

  /**
   * A word of a row's key: first the words of its columns, where the tail of a long string is 0,
   * then the null word, if there is one.
   */
  public long word(int row, int i) {
    return values == null ? columnWord(row, i) : values[row * wordCount + i];
  }

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

  private long nullWord(int row) {
    long nulls = 0;
    for (KeyWord word : words) {
      if (word.nullBit() != KeyWord.NO_NULL_BIT && word.isNull(row)) {
        nulls |= 1L << word.nullBit();
      }
    }
    return nulls;
  }

  // Words of a long string, whose length is in the head, the word before; 0 of other words.
  private int longStringWords(int row, int i) {
    return mayHaveLongStrings && isTail[i] ? LongStrings.words((int) word(row, i - 1)) : 0;
  }

  public int hash(int row) {
    return hashes == null ? computeHash(row) : hashes[row];
  }

  private int computeHash(int row) {
    long hash = 0;
    for (int i = 0; i < wordCount; i++) {
      hash = MurmurHash3.finish(hash * 31 + word(row, i));
      int count = longStringWords(row, i);
      for (int j = 0; j < count; j++) {
        hash = MurmurHash3.finish(hash * 31 + words.get(i).stringWord(row, j));
      }
    }
    return (int) (hash >>> HASH_SHIFT);
  }

  /** Whether two rows of the batch have the same key. */
  public boolean areEqual(int left, int right) {
    for (int i = 0; i < wordCount; i++) {
      if (word(left, i) != word(right, i)) {
        return false;
      }
      // The heads are equal, and so the lengths.
      int count = longStringWords(left, i);
      for (int j = 0; j < count; j++) {
        if (words.get(i).stringWord(left, j) != words.get(i).stringWord(right, j)) {
          return false;
        }
      }
    }
    return true;
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
    for (int i = 0; i < wordCount; i++) {
      long stored = HostMemory.getLong(address + (long) i * Long.BYTES);
      int count = longStringWords(row, i);
      if (count == 0 ? word(row, i) != stored : !isLongString(words.get(i), row, stored, count)) {
        return false;
      }
    }
    return true;
  }

  private boolean isLongString(KeyWord word, int row, long stored, int count) {
    for (int i = 0; i < count; i++) {
      long address = LongStrings.wordAddress(strings, stored + i);
      if (word.stringWord(row, i) != HostMemory.getLong(address)) {
        return false;
      }
    }
    return true;
  }
}
