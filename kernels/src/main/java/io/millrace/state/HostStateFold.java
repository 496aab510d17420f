// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.HostMemory;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.WideValue;
import io.millrace.state.string.HostValueFold;
import io.millrace.state.string.HostValueFold.Moves;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;

/** The twin of state_fold.cu: combines values in the order of the rows. */
final class HostStateFold {
  private final StateBatch batch;
  private final List<Integer> words = new ArrayList<>();
  // The words among them that are zero for a key without rows.
  private final List<Integer> wordsThatBeginAgain = new ArrayList<>();
  // By their first words.
  private final Map<Integer, HostValueFold> wideFolds = new TreeMap<>();
  // By the claimant of a key.
  private final long[] stateAddresses;
  private final long[] positions;
  private final long[] rowsPresent;

  HostStateFold(StateBatch batch) {
    this.batch = batch;
    boolean beginsAgain = false;
    for (int i = 0; i < batch.values().size(); i++) {
      AccumulatorValue value = batch.values().get(i);
      if (value.isOrdered()) {
        beginsAgain = value.isFirstOrdered() ? value.beginsAgain() : beginsAgain;
        words.add(i);
        if (beginsAgain) {
          wordsThatBeginAgain.add(i);
        }
      }
    }
    int strings = 0;
    int lists = 0;
    for (int word : words) {
      if (batch.values().get(word).isWide()) {
        WideValue value = new WideValue(batch.values().get(word), batch.values().get(word + 1));
        Moves moves = new Moves(batch.strings().values(), batch.valueStrings(), strings, lists);
        wideFolds.put(word, HostValueFold.of(value, batch.rows(), moves, batch.kinds() != 0));
        strings += value.isString() ? 1 : 0;
        lists += value.isList() ? 1 : 0;
      }
    }
    stateAddresses = new long[batch.rows()];
    positions = new long[batch.rows()];
    rowsPresent = new long[batch.rows()];
  }

  /** Tells where the accumulators of a key lie, and its rows of the result. */
  void place(int claimant, long rowAddress, long position) {
    stateAddresses[claimant] = rowAddress + (long) batch.firstAccumulator() * Long.BYTES;
    positions[claimant] = position;
  }

  /** Combines all rows, of which all keys were placed. */
  void run(IntUnaryOperator claimantOf) {
    boolean isChangelog = batch.rowKinds() != 0;
    if (isChangelog) {
      countRowsBefore(claimantOf);
    }
    for (int i = 0; i < batch.rows(); i++) {
      int row = i;
      int claimant = claimantOf.applyAsInt(row);
      boolean retracts = HostStateKernels.isRetraction(batch, row);
      add(row, stateAddresses[claimant], retracts);
      wideFolds.values().forEach(wide -> wide.add(row, claimant));
      if (isChangelog) {
        rowsPresent[claimant] += counted(row);
        if (rowsPresent[claimant] == 0) {
          wordsThatBeginAgain.forEach(word -> HostMemory.putLong(address(claimant, word), 0));
        }
      }
    }
    for (int row = 0; row < batch.rows(); row++) {
      if (claimantOf.applyAsInt(row) == row) {
        putKey(row);
      }
    }
  }

  private void putKey(int claimant) {
    boolean isChanged = false;
    for (Map.Entry<Integer, HostValueFold> wide : wideFolds.entrySet()) {
      long words = address(claimant, wide.getKey());
      isChanged |= wide.getValue().put(claimant, words, positions[claimant]);
    }
    if (batch.kinds() != 0) {
      putResults(claimant);
      if (isChanged) {
        markChanged(claimant);
      }
    }
  }

  // The state has the number of rows after the batch.
  private void countRowsBefore(IntUnaryOperator claimantOf) {
    for (int row = 0; row < batch.rows(); row++) {
      int claimant = claimantOf.applyAsInt(row);
      if (claimant == row) {
        rowsPresent[row] += HostMemory.getLong(address(row, batch.rowCount()));
      }
      rowsPresent[claimant] -= counted(row);
    }
  }

  // What a row adds to the number of rows of its key.
  private int counted(int row) {
    if (batch.values().get(batch.rowCount()).isNull(row)) {
      return 0;
    }
    return HostStateKernels.isRetraction(batch, row) ? -1 : 1;
  }

  private void add(int row, long accumulators, boolean retracts) {
    for (int word : words) {
      AccumulatorValue value = batch.values().get(word);
      if (!value.isNull(row)) {
        value.combineInOrder(accumulators + (long) word * Long.BYTES, row, retracts);
      }
    }
  }

  private long address(int claimant, int word) {
    return stateAddresses[claimant] + (long) word * Long.BYTES;
  }

  private void putResults(int claimant) {
    long position = positions[claimant];
    for (int word : words) {
      AccumulatorValue value = batch.values().get(word);
      value.putResult(position + 1, HostMemory.getLong(address(claimant, word)));
      if (value.areResultsDifferent(position)) {
        markChanged(claimant);
      }
    }
  }

  // The rows of a key that was and is present have no kind yet if nothing else of it changed.
  private void markChanged(int claimant) {
    long kinds = batch.kinds() + positions[claimant];
    boolean isPresent =
        batch.rowCount() < 0 || HostMemory.getLong(address(claimant, batch.rowCount())) != 0;
    if (isPresent
        && HostMemory.getByte(kinds) == ChangeKind.NONE.value()
        && HostMemory.getByte(kinds + 1) == ChangeKind.NONE.value()) {
      HostMemory.putByte(kinds, ChangeKind.UPDATE_BEFORE.value());
      HostMemory.putByte(kinds + 1, ChangeKind.UPDATE_AFTER.value());
    }
  }
}
