// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.kernel.hash.MurmurHash3;
import java.util.List;

/** The twin of state.cu. */
final class HostStateKernels implements StateKernels {
  private static final int HASH_SHIFT = 32;
  private static final long ROW_MASK = 0xffffffffL;

  @Override
  public Counts update(StateBatch batch) {
    Groups groups = new Groups(batch);
    for (int row = 0; row < batch.rows(); row++) {
      groups.add(row);
    }
    int changedKeys = 0;
    int newKeys = 0;
    for (int row = 0; row < batch.rows(); row++) {
      if (groups.isFirst(row)) {
        long rows = batch.stateRows() + newKeys;
        boolean isNew = updateRow(batch, groups, row, rows, 2L * changedKeys);
        groups.clear(row);
        changedKeys++;
        newKeys += isNew ? 1 : 0;
      }
    }
    return new Counts(changedKeys, newKeys);
  }

  /** The hash table of the batch's keys; a slot holds the first row of its key, plus 1. */
  private static final class Groups {
    private final StateBatch batch;
    private final int mask;
    private final long partialBytes;

    Groups(StateBatch batch) {
      this.batch = batch;
      this.mask = StateScratch.groups(batch.rows()) - 1;
      this.partialBytes = (long) batch.scratchLayout().partialWords() * Long.BYTES;
    }

    private long slotAddress(int row) {
      return batch.scratch() + batch.scratchLayout().groupOf() + (long) row * Integer.BYTES;
    }

    private long firstAddress(int slot) {
      return batch.scratch() + (long) slot * Integer.BYTES;
    }

    private long partialsAddress(int slot) {
      return batch.scratch() + batch.scratchLayout().partials() + slot * partialBytes;
    }

    private int slotOf(int row) {
      return HostMemory.getInt(slotAddress(row));
    }

    void add(int row) {
      int slot = slot(row);
      HostMemory.putInt(slotAddress(row), slot);
      boolean retracts = isRetraction(batch, row);
      long partial = partialsAddress(slot);
      for (AccumulatorValue value : batch.values()) {
        if (!value.isNull(row)) {
          value.accumulate(partial, row, retracts);
        }
        partial += (long) value.words() * Long.BYTES;
      }
    }

    private int slot(int row) {
      for (int slot = hash(batch, row) & mask; ; slot = (slot + 1) & mask) {
        int first = HostMemory.getInt(firstAddress(slot));
        if (first == 0) {
          HostMemory.putInt(firstAddress(slot), row + 1);
          return slot;
        }
        if (areEqual(batch, row, first - 1)) {
          return slot;
        }
      }
    }

    boolean isFirst(int row) {
      return HostMemory.getInt(firstAddress(slotOf(row))) == row + 1;
    }

    /** The address of the accumulators of a row's key in this batch. */
    long partials(int row) {
      return partialsAddress(slotOf(row));
    }

    /** Leaves the slot of a first row as it was found. */
    void clear(int row) {
      HostMemory.fill(partials(row), partialBytes, (byte) 0);
      HostMemory.putInt(firstAddress(slotOf(row)), 0);
    }
  }

  private static boolean updateRow(
      StateBatch batch, Groups groups, int row, long stateRows, long position) {
    int hash = hash(batch, row);
    long mask = batch.indexSlots() - 1;
    long slot = Integer.toUnsignedLong(hash) & mask;
    long entry = HostMemory.getLong(batch.index() + slot * Long.BYTES);
    while (entry != 0 && !isEntryOf(batch, row, hash, entry)) {
      slot = (slot + 1) & mask;
      entry = HostMemory.getLong(batch.index() + slot * Long.BYTES);
    }
    boolean isNew = entry == 0;
    long stateRow = isNew ? stateRows : (entry & ROW_MASK) - 1;
    long address = rowAddress(batch, stateRow);
    if (isNew) {
      long added = (long) hash << HASH_SHIFT | (stateRow + 1);
      HostMemory.putLong(batch.index() + slot * Long.BYTES, added);
      putKey(batch, row, address);
    }
    combine(batch, groups, row, address, isNew, position);
    return isNew;
  }

  private static void combine(
      StateBatch batch, Groups groups, int row, long address, boolean isNew, long position) {
    long accumulator = address + (long) batch.firstAccumulator() * Long.BYTES;
    long partial = groups.partials(row);
    List<AccumulatorValue> values = batch.values();
    boolean hasResult = batch.kinds() != 0;
    boolean wasPresent = !isNew;
    boolean isPresent = true;
    boolean isChanged = false;
    for (int i = 0; i < values.size(); i++) {
      AccumulatorValue value = values.get(i);
      if (i == batch.rowCount()) {
        wasPresent = HostMemory.getLong(accumulator) != 0;
      }
      if (hasResult) {
        value.putResult(position, accumulator);
      }
      isChanged |= value.combine(accumulator, partial);
      if (i == batch.rowCount()) {
        isPresent = HostMemory.getLong(accumulator) != 0;
      }
      if (hasResult) {
        value.putResult(position + 1, accumulator);
      }
      accumulator += (long) value.words() * Long.BYTES;
      partial += (long) value.words() * Long.BYTES;
    }
    if (hasResult) {
      for (KeyWord word : batch.key()) {
        word.putOutput(row, position);
        word.putOutput(row, position + 1);
      }
      putKinds(batch.kinds() + position, wasPresent, isPresent, isChanged);
    }
  }

  private static void putKinds(
      long address, boolean wasPresent, boolean isPresent, boolean isChanged) {
    ChangeKind before = ChangeKind.NONE;
    ChangeKind after = ChangeKind.NONE;
    if (wasPresent && !isPresent) {
      before = ChangeKind.DELETE;
    } else if (!wasPresent && isPresent) {
      after = ChangeKind.INSERT;
    } else if (wasPresent && isChanged) {
      before = ChangeKind.UPDATE_BEFORE;
      after = ChangeKind.UPDATE_AFTER;
    }
    HostMemory.putByte(address, before.value());
    HostMemory.putByte(address + 1, after.value());
  }

  private static boolean isRetraction(StateBatch batch, int row) {
    return batch.rowKinds() != 0
        && ChangeKind.isRetraction(HostMemory.getByte(batch.rowKinds() + row));
  }

  private static boolean isEntryOf(StateBatch batch, int row, int hash, long entry) {
    return (int) (entry >> HASH_SHIFT) == hash
        && isKey(batch, row, rowAddress(batch, (entry & ROW_MASK) - 1));
  }

  private static boolean isKey(StateBatch batch, int row, long address) {
    List<KeyWord> key = batch.key();
    for (int i = 0; i < key.size(); i++) {
      if (key.get(i).word(row) != HostMemory.getLong(address + (long) i * Long.BYTES)) {
        return false;
      }
    }
    return !batch.hasNullWord()
        || nullWord(batch, row) == HostMemory.getLong(address + (long) key.size() * Long.BYTES);
  }

  private static boolean areEqual(StateBatch batch, int left, int right) {
    for (KeyWord word : batch.key()) {
      if (word.word(left) != word.word(right)) {
        return false;
      }
    }
    return !batch.hasNullWord() || nullWord(batch, left) == nullWord(batch, right);
  }

  private static void putKey(StateBatch batch, int row, long address) {
    List<KeyWord> key = batch.key();
    for (int i = 0; i < key.size(); i++) {
      HostMemory.putLong(address + (long) i * Long.BYTES, key.get(i).word(row));
    }
    if (batch.hasNullWord()) {
      HostMemory.putLong(address + (long) key.size() * Long.BYTES, nullWord(batch, row));
    }
    for (int i = batch.firstAccumulator(); i < batch.rowWords(); i++) {
      HostMemory.putLong(address + (long) i * Long.BYTES, 0);
    }
  }

  private static long rowAddress(StateBatch batch, long row) {
    long inChunk = row & ((1L << batch.chunkShift()) - 1);
    long chunk = HostMemory.getLong(batch.chunkTable() + (row >> batch.chunkShift()) * Long.BYTES);
    return chunk + inChunk * batch.rowWords() * Long.BYTES;
  }

  private static long nullWord(StateBatch batch, int row) {
    long nulls = 0;
    for (KeyWord word : batch.key()) {
      if (word.nullBit() != KeyWord.NO_NULL_BIT && word.isNull(row)) {
        nulls |= 1L << word.nullBit();
      }
    }
    return nulls;
  }

  private static int hash(StateBatch batch, int row) {
    List<KeyWord> key = batch.key();
    long hash = MurmurHash3.finish(key.get(0).word(row));
    for (int i = 1; i < key.size(); i++) {
      hash = MurmurHash3.finish(hash * 31 + key.get(i).word(row));
    }
    if (batch.hasNullWord()) {
      hash = MurmurHash3.finish(hash * 31 + nullWord(batch, row));
    }
    return (int) (hash >>> HASH_SHIFT);
  }

  @Override
  public void moveIndex(
      long source, long slots, long target, long targetSlots, DeviceStream stream) {
    for (long i = 0; i < slots; i++) {
      long entry = HostMemory.getLong(source + i * Long.BYTES);
      if (entry != 0) {
        long slot = (entry >>> HASH_SHIFT) & (targetSlots - 1);
        while (HostMemory.getLong(target + slot * Long.BYTES) != 0) {
          slot = (slot + 1) & (targetSlots - 1);
        }
        HostMemory.putLong(target + slot * Long.BYTES, entry);
      }
    }
  }
}
