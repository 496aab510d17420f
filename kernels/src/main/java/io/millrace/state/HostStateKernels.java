// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.state.StateInput.SumColumn;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.HostKeys;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.PageEpochs;
import java.math.BigInteger;
import java.util.List;

/** The twin of state.cu. */
final class HostStateKernels implements StateKernels {
  private static final BigInteger END = BigInteger.TEN.pow(38);
  private static final long END_LOW = END.longValue();
  private static final long END_HIGH = END.shiftRight(Long.SIZE).longValueExact();

  @Override
  public Counts update(StateBatch batch) {
    Groups groups = new Groups(batch);
    groups.claim();
    groups.accumulate();
    int changedKeys = 0;
    int newKeys = 0;
    long stringWords = 0;
    for (int row = 0; row < batch.rows(); row++) {
      if (groups.isFirst(row)) {
        long rows = batch.stateRows() + newKeys;
        boolean isNew = updateRow(batch, groups, row, rows, 2L * changedKeys);
        groups.clear(row);
        if (isNew && batch.hasStrings()) {
          stringWords += putStrings(batch, row, rowAddress(batch, rows), stringWords);
        }
        changedKeys++;
        newKeys += isNew ? 1 : 0;
      }
    }
    if (groups.fold != null) {
      groups.fold.run(groups::claimantOf);
    }
    return new Counts(changedKeys, newKeys, stringWords);
  }

  /** The hash table of the batch's keys. The claimant of a key is its first row here. */
  private static final class Groups {
    private final StateBatch batch;
    private final HostKeys keys;
    private final long table;
    private final int mask;
    private final long claims;
    private final long partials;
    private final long partialBytes;
    // null if all accumulators are combined in any order.
    private final HostStateFold fold;

    Groups(StateBatch batch) {
      StateScratch layout = batch.scratchLayout();
      this.batch = batch;
      this.keys =
          HostKeys.ofAll(
              batch.key(), batch.hasNullWord(), batch.strings().keys().chunkTable(), batch.rows());
      this.table = batch.scratch() + layout.groups();
      this.mask = StateScratch.groups(batch.rows()) - 1;
      this.claims = batch.scratch() + layout.claims();
      this.partials =
          batch.scratch()
              + layout.partials()
              + (long) (batch.firstAccumulator() - batch.partialBase()) * Long.BYTES;
      this.partialBytes = (long) layout.partialWords() * Long.BYTES;
      this.fold = batch.isOrdered() ? new HostStateFold(batch) : null;
    }

    // Of a claimant the complement of its slot, of other rows their claimant.
    private long claimOf(int row) {
      return HostMemory.getLong(claims + (long) row * Long.BYTES);
    }

    private void putClaim(int row, long claim) {
      HostMemory.putLong(claims + (long) row * Long.BYTES, claim);
    }

    void claim() {
      for (int row = 0; row < batch.rows(); row++) {
        claim(row);
      }
    }

    /** Word by word, so that the loop over the rows does the same for each of them. */
    void accumulate() {
      List<AccumulatorValue> values = batch.values();
      for (int first = 0, end; first < values.size(); first = end) {
        end = first + 1;
        while (end < values.size() && values.get(end).operation() == AccumulatorValue.CARRY) {
          end++;
        }
        if (end - first > 1) {
          accumulateSum(first, end);
        } else if (!values.get(first).isOrdered()) {
          accumulate(first);
        }
      }
    }

    private void accumulate(int word) {
      AccumulatorValue value = batch.values().get(word);
      for (int row = 0; row < batch.rows(); row++) {
        int claimant = claimantOf(row);
        boolean isKnown = value.isConstant() && claimant != row;
        if (!isKnown && !value.isNull(row)) {
          boolean retracts = isRetraction(batch, row);
          long address = partialAddress(word, claimant);
          long carry = AccumulatorValue.firstCarry(retracts);
          long before = HostMemory.getLong(address);
          HostMemory.putLong(
              address, value.combine(before, value.accumulator(row, retracts), carry));
        }
      }
    }

    // A sum of several words, all of which are null or none.
    private void accumulateSum(int first, int end) {
      List<AccumulatorValue> values = batch.values();
      for (int row = 0; row < batch.rows(); row++) {
        if (!values.get(first).isNull(row)) {
          boolean retracts = isRetraction(batch, row);
          long carry = AccumulatorValue.firstCarry(retracts);
          for (int word = first; word < end; word++) {
            AccumulatorValue value = values.get(word);
            long address = partialAddress(word, claimantOf(row));
            long before = HostMemory.getLong(address);
            long accumulator = value.accumulator(row, retracts);
            HostMemory.putLong(address, value.combine(before, accumulator, carry));
            carry = AccumulatorValue.carryOut(before, accumulator, carry);
          }
        }
      }
    }

    private void claim(int row) {
      int hash = keys.hash(row);
      for (int slot = hash & mask; ; slot = (slot + 1) & mask) {
        long address = table + (long) slot * Long.BYTES;
        long entry = HostMemory.getLong(address);
        if (entry == 0) {
          HostMemory.putLong(address, HostKeys.entry(hash, row));
          putClaim(row, ~slot);
          return;
        }
        int claimant = (int) HostKeys.row(entry);
        if (HostKeys.hashOf(entry) == hash && keys.areEqual(row, claimant)) {
          putClaim(row, claimant);
          return;
        }
      }
    }

    int claimantOf(int row) {
      long claim = claimOf(row);
      return claim < 0 ? row : (int) claim;
    }

    boolean isFirst(int row) {
      return claimOf(row) < 0;
    }

    private long partialAddress(int accumulator, int claimant) {
      return partials + claimant * partialBytes + (long) accumulator * Long.BYTES;
    }

    long partial(int accumulator, int claimant) {
      return HostMemory.getLong(partialAddress(accumulator, claimant));
    }

    /** Leaves what belongs to a key as it was found. */
    void clear(int claimant) {
      for (int i = 0; i < batch.values().size(); i++) {
        HostMemory.putLong(partialAddress(i, claimant), 0);
      }
      HostMemory.putLong(table + ~claimOf(claimant) * Long.BYTES, 0);
    }
  }

  private static boolean updateRow(
      StateBatch batch, Groups groups, int row, long stateRows, long position) {
    HostKeys keys = groups.keys;
    int hash = keys.hash(row);
    long slot =
        keys.slot(
            row, hash, batch.index(), batch.indexSlots(), number -> rowAddress(batch, number));
    long entry = HostMemory.getLong(batch.index() + slot * Long.BYTES);
    boolean isNew = entry == 0;
    long stateRow = isNew ? stateRows : HostKeys.row(entry);
    long address = rowAddress(batch, stateRow);
    long page = PageEpochs.page(stateRow, batch.chunkShift());
    HostMemory.putLong(batch.pageEpochs() + page * Long.BYTES, batch.epoch());
    if (isNew) {
      HostMemory.putLong(batch.index() + slot * Long.BYTES, HostKeys.entry(hash, stateRow));
      putKey(batch, keys, row, address);
    }
    combine(batch, groups, row, address, isNew || isExpired(batch, address), position);
    if (groups.fold != null) {
      groups.fold.place(row, address, position);
    }
    return isNew;
  }

  private static boolean isExpired(StateBatch batch, long address) {
    long time = address + (long) batch.firstAccumulator() * Long.BYTES;
    return batch.hasExpiry() && batch.expiry().isExpired(HostMemory.getLong(time));
  }

  private static void combine(
      StateBatch batch, Groups groups, int row, long address, boolean isNew, long position) {
    long accumulators = address + (long) batch.firstAccumulator() * Long.BYTES;
    List<AccumulatorValue> values = batch.values();
    boolean hasResult = batch.kinds() != 0;
    boolean wasPresent = !isNew;
    boolean isPresent = true;
    boolean isChanged = batch.hasExpiry();
    long carry = 0;
    for (int i = 0; i < values.size(); i++) {
      AccumulatorValue value = values.get(i);
      long accumulator = accumulators + (long) i * Long.BYTES;
      long before = isNew ? 0 : HostMemory.getLong(accumulator);
      long partial = groups.partial(i, row);
      carry = value.carryIn(0, carry);
      long after = value.combine(before, partial, carry);
      carry = AccumulatorValue.carryOut(before, partial, carry);
      HostMemory.putLong(accumulator, after);
      isChanged |= before != after;
      if (i == batch.rowCount()) {
        wasPresent = before != 0;
        isPresent = after != 0;
      }
      if (hasResult) {
        value.putResult(position, before);
        value.putResult(position + 1, after);
      }
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

  static boolean isRetraction(StateBatch batch, int row) {
    return batch.rowKinds() != 0
        && ChangeKind.isRetraction(HostMemory.getByte(batch.rowKinds() + row));
  }

  /** Stores the long strings of a new key behind {@code added} words; returns their words. */
  private static long putStrings(StateBatch batch, int row, long address, long added) {
    List<KeyWord> key = batch.key();
    long position = batch.strings().keys().wordCount() + added;
    long words = 0;
    for (int i = 0; i < key.size(); i++) {
      KeyWord word = key.get(i);
      int count = word.isTail() ? word.stringWords(row) : 0;
      if (count > 0) {
        HostMemory.putLong(address + (long) i * Long.BYTES, position + words);
      }
      for (int j = 0; j < count; j++, words++) {
        HostMemory.putLong(batch.keyStringAddress(position + words), word.stringWord(row, j));
      }
    }
    return words;
  }

  private static void putKey(StateBatch batch, HostKeys keys, int row, long address) {
    int keyWords = batch.key().size() + (batch.hasNullWord() ? 1 : 0);
    for (int i = 0; i < keyWords; i++) {
      HostMemory.putLong(address + (long) i * Long.BYTES, keys.word(row, i));
    }
    for (int i = batch.firstAccumulator() + batch.values().size(); i < batch.rowWords(); i++) {
      HostMemory.putLong(address + (long) i * Long.BYTES, 0);
    }
  }

  private static long rowAddress(StateBatch batch, long row) {
    long inChunk = row & ((1L << batch.chunkShift()) - 1);
    long chunk = HostMemory.getLong(batch.chunkTable() + (row >> batch.chunkShift()) * Long.BYTES);
    return chunk + inChunk * batch.rowWords() * Long.BYTES;
  }

  @Override
  public void maskOverflows(SumColumn column, long rows, DeviceStream stream) {
    for (long row = 0; row < rows; row++) {
      long low = HostMemory.getLong(column.sums() + row * 2 * Long.BYTES);
      long high = HostMemory.getLong(column.sums() + (row * 2 + 1) * Long.BYTES);
      boolean hasTop = column.tops() != 0;
      long top = hasTop ? HostMemory.getLong(column.tops() + row * Long.BYTES) : sign(high);
      HostMemory.putBit(column.mask(), row, top == sign(high) && has38Digits(low, high));
    }
  }

  private static long sign(long word) {
    return word >> (Long.SIZE - 1);
  }

  private static boolean has38Digits(long low, long high) {
    long sign = sign(high);
    long absoluteLow = (low ^ sign) - sign;
    long absoluteHigh = (high ^ sign) + (sign != 0 && low == 0 ? 1 : 0);
    // Unsigned: the absolute value of the least number is 2^127.
    return absoluteHigh == END_HIGH
        ? Long.compareUnsigned(absoluteLow, END_LOW) < 0
        : Long.compareUnsigned(absoluteHigh, END_HIGH) < 0;
  }

  @Override
  public void moveIndex(
      long source, long slots, long target, long targetSlots, DeviceStream stream) {
    for (long i = 0; i < slots; i++) {
      long entry = HostMemory.getLong(source + i * Long.BYTES);
      if (entry != 0) {
        int hash = HostKeys.hashOf(entry);
        long slot = HostKeys.slot(hash, target, targetSlots, number -> false);
        HostMemory.putLong(target + slot * Long.BYTES, entry);
      }
    }
  }
}
