// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.session;

import io.millrace.device.HostMemory;
import io.millrace.state.row.HostKeys;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.PageEpochs;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.StateSelection;

/** The twin of session.cu. */
final class HostSessionKernels implements SessionKernels {

  @Override
  public SessionCounts select(Selection selection) {
    Rows rows = selection.rows();
    StateSchema state = rows.schema().state();
    StateAccess next = selection.next();
    HostKeys keys = next == null ? null : HostKeys.of(selection.key(), false, next.keyStrings());
    int selected = 0;
    long stringWords = 0;
    int others = 0;
    long leastOpen = -1;
    for (int row = 0; row < rows.count(); row++) {
      long address = rows.address() + (long) row * state.rowBytes();
      long last = word(address, rows.schema().lastWord());
      if (Long.compareUnsigned(last, rows.lastTime()) > 0) {
        leastOpen = Long.compareUnsigned(last, leastOpen) < 0 ? last : leastOpen;
      } else if (last != 0) {
        boolean goesOn =
            selection.starts() == 0
                ? next != null && touched(rows.schema(), keys, next, row, last) != 0
                : goesOnInTable(selection, keys, row, address);
        if (goesOn == selection.continued()) {
          long target = selection.target() + (long) selected * state.rowBytes();
          HostMemory.copy(target, address, state.rowBytes());
          if (selection.starts() != 0) {
            long start = target + (long) rows.schema().startWord() * Long.BYTES;
            HostMemory.putLong(start, word(selection.starts(), row));
          }
          selected++;
          stringWords += stringWords(state, address);
        } else {
          others++;
        }
      }
    }
    return new SessionCounts(
        new StateSelection.Counts(selected, stringWords),
        others,
        SessionSchema.lastTime(leastOpen));
  }

  private static boolean goesOnInTable(
      Selection selection, HostKeys keys, int row, long rowAddress) {
    SessionSchema schema = selection.rows().schema();
    long start = selection.starts() + (long) row * Long.BYTES;
    long slice = word(rowAddress, schema.startWord());
    long state = rowAddress;
    do {
      HostMemory.putLong(start, slice + schema.gap());
      state = touched(schema, keys, selection.next(), row, word(state, schema.lastWord()));
      slice += state == 0 ? 0 : schema.gap();
    } while (state != 0
        && Long.compareUnsigned(word(state, schema.lastWord()), selection.rows().lastTime()) <= 0);
    HostMemory.putLong(start, slice);
    return state != 0;
  }

  // The address of the row of a key's session that begins at most the gap behind a time; 0 if there
  // is none.
  private static long touched(
      SessionSchema schema, HostKeys keys, StateAccess table, int row, long lastWord) {
    long address = find(keys, table, row);
    return touches(schema, address, SessionSchema.lastTime(lastWord)) ? address : 0;
  }

  private static boolean touches(SessionSchema schema, long address, long time) {
    if (address == 0 || word(address, schema.lastWord()) == 0) {
      return false;
    }
    long first = SessionSchema.firstTime(word(address, schema.firstWord()));
    // The gap is not negative; a difference above Long.MAX_VALUE is.
    return first <= time || Long.compareUnsigned(first - time, schema.gap()) <= 0;
  }

  // The address of the state row of a key; 0 if there is none.
  private static long find(HostKeys keys, StateAccess table, int row) {
    long slot =
        keys.slot(row, keys.hash(row), table.index(), table.indexSlots(), table::rowAddress);
    long entry = HostMemory.getLong(table.index() + slot * Long.BYTES);
    return entry == 0 ? 0 : table.rowAddress(HostKeys.row(entry));
  }

  private static long word(long address, int position) {
    return HostMemory.getLong(address + (long) position * Long.BYTES);
  }

  private static long stringWords(StateSchema schema, long address) {
    long words = 0;
    for (int tail : schema.tails()) {
      words += LongStrings.words((int) word(address, tail - 1));
    }
    return words;
  }

  @Override
  public void clear(Rows rows, StateAccess access, long firstRow) {
    StateSchema state = rows.schema().state();
    long keyBytes = (long) state.firstAccumulator() * Long.BYTES;
    for (int row = 0; row < rows.count(); row++) {
      long address = rows.address() + (long) row * state.rowBytes();
      long last = word(address, rows.schema().lastWord());
      if (last != 0 && Long.compareUnsigned(last, rows.lastTime()) <= 0) {
        HostMemory.fill(address + keyBytes, state.rowBytes() - keyBytes, (byte) 0);
        long page = PageEpochs.page(firstRow + row, access.chunkShift());
        HostMemory.putLong(access.pageEpochs() + page * Long.BYTES, access.epoch());
      }
    }
  }

  @Override
  public void touch(Touches touches) {
    StateAccess table = touches.table();
    HostKeys keys = HostKeys.of(touches.key(), touches.hasNullWord(), table.keyStrings());
    for (int row = 0; row < touches.rows(); row++) {
      long number = touches.numbers() + (long) row * Integer.BYTES;
      if (HostMemory.getInt(number) == 0 && touches(touches, keys, row)) {
        HostMemory.putInt(number, touches.number());
      }
    }
  }

  private static boolean touches(Touches touches, HostKeys keys, int row) {
    SessionSchema schema = touches.schema();
    long address = find(keys, touches.table(), row);
    long time = HostMemory.getLong(touches.times() + (long) row * Long.BYTES);
    return touches(schema, address, time);
  }
}
