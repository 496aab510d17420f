// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;
import io.millrace.kernel.hash.MurmurHash3;
import java.util.List;
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
  private static final long BUCKET_SLOTS = 4;
  private static final long ROW_MASK = 0xffffffffL;

  /** Where the search for a key in a hash table begins: at a bucket. */
  public static long firstSlot(int hash, long mask) {
    return Integer.toUnsignedLong(hash) & mask & -BUCKET_SLOTS;
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
   * The slot of a row's key in an index, or the first empty slot.
   *
   * @param index address of an INT64 for each slot
   * @param slots a power of two
   * @param rowAddress the address of a state row by its number
   */
  public long slot(int row, int hash, long index, long slots, LongUnaryOperator rowAddress) {
    long mask = slots - 1;
    for (long slot = firstSlot(hash, mask); ; slot = (slot + 1) & mask) {
      long entry = HostMemory.getLong(index + slot * Long.BYTES);
      if (entry == 0
          || (hashOf(entry) == hash && isKeyOf(row, rowAddress.applyAsLong(row(entry))))) {
        return slot;
      }
    }
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
