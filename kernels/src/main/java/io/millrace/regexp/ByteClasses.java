// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import io.millrace.regexp.Nfa.Take;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Equivalence classes of byte values: every instruction of an automaton accepts all or none of the
 * values of a class.
 */
final class ByteClasses {
  private static final int VALUES = 256;

  private final int[] classOfByte = new int[VALUES];
  private final List<Integer> firstBytes = new ArrayList<>();

  private ByteClasses(BitSet firsts) {
    for (int value = 0; value < VALUES; value++) {
      if (firsts.get(value)) {
        firstBytes.add(value);
      }
      classOfByte[value] = firstBytes.size() - 1;
    }
  }

  static ByteClasses of(Nfa program) {
    BitSet firsts = new BitSet();
    firsts.set(0);
    for (int i = 0; i < program.size(); i++) {
      if (program.instruction(i) instanceof Take take) {
        firsts.set(take.first());
        firsts.set(take.last() + 1);
      }
    }
    return new ByteClasses(firsts);
  }

  int count() {
    return firstBytes.size();
  }

  /** A representative byte value of a class. */
  int firstByte(int index) {
    return firstBytes.get(index);
  }

  /** Writes the class of each byte value, one byte each. */
  void write(byte[] table, int offset) {
    for (int value = 0; value < VALUES; value++) {
      table[offset + value] = (byte) classOfByte[value];
    }
  }
}
