// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.lookup;

import io.millrace.device.HostMemory;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.HostKeys;
import io.millrace.state.row.StateAccess;
import java.util.function.IntToLongFunction;
import java.util.function.LongUnaryOperator;

/** The twin of state_lookup.cu. */
final class HostLookupKernels implements LookupKernels {

  @Override
  public void find(Keys keys, long numbers, int width) {
    IntToLongFunction numberOf = numberOf(keys);
    for (int row = 0; row < keys.rows(); row++) {
      long number = numberOf.applyAsLong(row);
      long address = numbers + (long) row * width;
      if (width == Integer.BYTES) {
        HostMemory.putInt(address, (int) number);
      } else {
        HostMemory.putLong(address, number);
      }
    }
  }

  // The number of the state row of a row's key.
  private static IntToLongFunction numberOf(Keys keys) {
    StateAccess table = keys.table();
    if (table == null) {
      return row -> StateLookup.NO_ROW;
    }
    HostKeys words =
        HostKeys.ofAll(keys.key(), keys.hasNullWord(), table.keyStrings(), keys.rows());
    LongUnaryOperator rowAddress = table::rowAddress;
    return row -> {
      int hash = words.hash(row);
      long slot = words.slot(row, hash, table.index(), table.indexSlots(), rowAddress);
      return HostKeys.row(HostMemory.getLong(table.index() + slot * Long.BYTES));
    };
  }

  @Override
  public void copy(Copies copies) {
    Keys keys = copies.keys();
    long rowBytes = keys.schema().rowBytes();
    long keyBytes = (long) keys.schema().firstAccumulator() * Long.BYTES;
    IntToLongFunction numberOf = numberOf(keys);
    for (int row = 0; row < keys.rows(); row++) {
      long target = copies.target() + row * rowBytes;
      HostMemory.copy(
          target, copies.source() + (long) row * copies.sourceWords() * Long.BYTES, keyBytes);
      long number = numberOf.applyAsLong(row);
      long state = number == StateLookup.NO_ROW ? 0 : keys.table().rowAddress(number);
      if (state == 0 || isExpired(copies.expiry(), state + keyBytes)) {
        HostMemory.fill(target + keyBytes, rowBytes - keyBytes, (byte) 0);
      } else {
        HostMemory.copy(target + keyBytes, state + keyBytes, rowBytes - keyBytes);
      }
    }
  }

  private static boolean isExpired(Expiry expiry, long time) {
    return expiry.oldest() != 0 && expiry.isExpired(HostMemory.getLong(time));
  }
}
