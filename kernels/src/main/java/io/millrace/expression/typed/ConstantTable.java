// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.typed.TypedExpression.Literal;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.RowHash;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.TimestampNanos;
import io.millrace.expression.vector.ValueKind;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A hash table from constants of one type to positions, with open addressing. The host and {@code
 * constant_table.cu} use the same search. Immutable; tables are equal if equal constants have equal
 * positions.
 *
 * <p>Layout, little-endian: the hash seed (64 bits), slots - 1 and whether -0.0 is treated as 0.0
 * (32 bits each); then the slots, a power of two and at least twice the number of constants. A slot
 * is a key (64 bits), a position or -1, and an entry offset (32 bits each). The key is the constant
 * itself if it fits 64 bits. Otherwise it is the hash, and the constant is stored at the entry
 * offset: two words, or for bytes a 64-bit length followed by the bytes.
 */
@Internal
public final class ConstantTable {
  static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int HEADER_BYTES = 16;
  private static final int SLOT_BYTES = 16;
  private static final int POSITION = 8;
  private static final int PLACE = 12;
  // Longest accepted probe sequence; a longer one is rebuilt with another seed.
  private static final int LONGEST_SEARCH = 32;
  private static final int MAX_SEEDS = 16;
  private static final int LONG_BITS = 64;

  private final ValueKind kind;
  private final byte[] bytes;
  private final int hash;

  /**
   * @param constants non-null, of one type; the first of equal constants wins
   * @param positions non-negative, one per constant
   * @param zerosAreEqual whether -0.0 is treated as 0.0
   * @throws ExpressionException if the table would exceed 1 GiB
   */
  public ConstantTable(List<Literal> constants, int[] positions, boolean zerosAreEqual) {
    this.kind = ValueKind.of(constants.get(0).type());
    int slots = Integer.highestOneBit(Math.max(1, constants.size())) * 4;
    long slotBytes = HEADER_BYTES + (long) slots * SLOT_BYTES;
    byte[] entries = kind.isTwoPart() ? entries(constants, slotBytes) : new byte[0];
    checkSize(slotBytes + entries.length);
    byte[] table = new byte[(int) slotBytes + entries.length];
    System.arraycopy(entries, 0, table, (int) slotBytes, entries.length);
    INTS.set(table, 8, slots - 1);
    INTS.set(table, 12, zerosAreEqual ? 1 : 0);
    this.bytes = table;
    int seed = 0;
    while (!fill(constants, positions, (int) slotBytes, seed) && seed < MAX_SEEDS) {
      seed++;
    }
    this.hash = Arrays.hashCode(table);
  }

  static void checkSize(long tableBytes) {
    if (tableBytes > 1 << 30) {
      throw new ExpressionException(
          "expected a list of constants of at most 1 GiB, got " + tableBytes + " bytes");
    }
  }

  // Slots are four times the highest power of two within the number of constants: at most half
  // full.
  private boolean fill(List<Literal> constants, int[] positions, int firstEntry, int seed) {
    LONGS.set(bytes, 0, (long) seed);
    for (int slot = HEADER_BYTES; slot < firstEntry; slot += SLOT_BYTES) {
      INTS.set(bytes, slot + POSITION, -1);
    }
    int place = firstEntry;
    int longest = 0;
    for (int i = 0; i < constants.size(); i++) {
      longest = Math.max(longest, put(constants.get(i), positions[i], place));
      place += kind.isTwoPart() ? entryBytes(place) : 0;
    }
    return longest <= LONGEST_SEARCH;
  }

  /** Inserts a constant at the end of its probe sequence; returns the length of the sequence. */
  private int put(Literal constant, int position, int place) {
    long key;
    long hashed;
    if (kind == ValueKind.BYTES) {
      hashed = hashOfEntry(place);
      key = hashed;
    } else if (kind.isTwoPart()) {
      hashed = hash(getLong(place), getLong(place + Long.BYTES));
      key = hashed;
    } else {
      key = isZero(constant) ? 0 : word(constant);
      hashed = RowHash.mix(key, seed());
    }
    int slot = slot(hashed);
    int steps = 0;
    for (; positionAt(slot) >= 0; steps++) {
      if (getLong(slot) == key && (!kind.isTwoPart() || isSame(placeAt(slot), place))) {
        return steps;
      }
      slot = next(slot);
    }
    LONGS.set(bytes, slot, key);
    INTS.set(bytes, slot + POSITION, position);
    INTS.set(bytes, slot + PLACE, place);
    return steps;
  }

  // Flink reads the literal -0.0 as 0.0.
  private static boolean isZero(Literal constant) {
    return (constant.value() instanceof Float || constant.value() instanceof Double)
        && ((Number) constant.value()).doubleValue() == 0;
  }

  private long hashOfEntry(int place) {
    int length = (int) getLong(place);
    long hashed = RowHash.mix(length, seed());
    for (int offset = 0; offset < length; offset += Long.BYTES) {
      // Entries are padded with zeros.
      hashed = RowHash.mix(getLong(place + Long.BYTES + offset), hashed);
    }
    return hashed;
  }

  private boolean isSame(int left, int right) {
    return Arrays.equals(
        bytes, left, left + entryBytes(left), bytes, right, right + entryBytes(right));
  }

  private int entryBytes(int place) {
    return kind == ValueKind.BYTES ? Long.BYTES + wholeWords((int) getLong(place)) : 2 * Long.BYTES;
  }

  static int wholeWords(int length) {
    return (length + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
  }

  private byte[] entries(List<Literal> constants, long before) {
    return kind == ValueKind.BYTES ? texts(constants, before) : pairs(constants, before);
  }

  private static byte[] texts(List<Literal> constants, long before) {
    List<byte[]> texts = new ArrayList<>(constants.size());
    long size = 0;
    for (Literal constant : constants) {
      byte[] text = ConstantBytes.of(constant);
      texts.add(text);
      size += Long.BYTES + wholeWords(text.length);
    }
    checkSize(before + size);
    byte[] entries = new byte[(int) size];
    int place = 0;
    for (byte[] text : texts) {
      LONGS.set(entries, place, (long) text.length);
      System.arraycopy(text, 0, entries, place + Long.BYTES, text.length);
      place += Long.BYTES + wholeWords(text.length);
    }
    return entries;
  }

  private static byte[] pairs(List<Literal> constants, long before) {
    checkSize(before + 2L * Long.BYTES * constants.size());
    byte[] entries = new byte[2 * Long.BYTES * constants.size()];
    int place = 0;
    for (Literal constant : constants) {
      LONGS.set(entries, place, word(constant));
      LONGS.set(entries, place + Long.BYTES, secondWord(constant));
      place += 2 * Long.BYTES;
    }
    return entries;
  }

  /** The bits of a constant or of its first part; narrower integers are sign-extended. */
  static long word(Literal constant) {
    Object value = constant.value();
    if (value instanceof Boolean bool) {
      return bool ? 1 : 0;
    } else if (value instanceof Float number) {
      return Float.floatToRawIntBits(number);
    } else if (value instanceof Double number) {
      return Double.doubleToRawLongBits(number);
    } else if (value instanceof BigDecimal number) {
      return number.unscaledValue().longValue();
    } else if (value instanceof TimestampNanos timestamp) {
      return timestamp.millis();
    }
    return (Long) value;
  }

  /** The second part of a two-part constant. */
  static long secondWord(Literal constant) {
    if (constant.value() instanceof TimestampNanos timestamp) {
      return timestamp.nanos();
    }
    BigInteger unscaled = ((BigDecimal) constant.value()).unscaledValue();
    return unscaled.shiftRight(LONG_BITS).longValue();
  }

  // ---- the search ----

  /** The memory of the table. Read-only. */
  public byte[] bytes() {
    return bytes;
  }

  private long seed() {
    return getLong(0);
  }

  private long getLong(int place) {
    return (long) LONGS.get(bytes, place);
  }

  private int slot(long hashed) {
    return HEADER_BYTES + ((int) hashed & (int) INTS.get(bytes, 8)) * SLOT_BYTES;
  }

  private int next(int slot) {
    int last = HEADER_BYTES + (int) INTS.get(bytes, 8) * SLOT_BYTES;
    return slot == last ? HEADER_BYTES : slot + SLOT_BYTES;
  }

  private int positionAt(int slot) {
    return (int) INTS.get(bytes, slot + POSITION);
  }

  private int placeAt(int slot) {
    return (int) INTS.get(bytes, slot + PLACE);
  }

  private long hash(long first, long second) {
    return RowHash.mix(second, RowHash.mix(first, seed()));
  }

  /**
   * Looks up the values of the first operand; the result is their positions, -1 for absent values.
   */
  public void find(HostVector[] operands, HostVector result, Rows rows) {
    HostVector values = operands[0];
    long[] found = result.longs();
    putKeys(values, found, rows);
    for (int first = 0; first < rows.count(); first += Long.SIZE) {
      int count = Math.min(Long.SIZE, rows.count() - first);
      long sought = -1L >>> (Long.SIZE - count);
      for (int step = 0; sought != 0; step++) {
        sought = probe(found, rows, first, sought, step);
      }
    }
    if (kind.isTwoPart()) {
      compareEntries(values, found, rows);
    }
  }

  /** Stores the keys of the values in {@code keys}, which will receive the positions. */
  private void putKeys(HostVector values, long[] keys, Rows rows) {
    if (rows.isDense() && !kind.isFloating() && !kind.isTwoPart()) {
      System.arraycopy(values.longs(), 0, keys, 0, rows.count());
      return;
    }
    long seed = seed();
    boolean zerosAreEqual = (int) INTS.get(bytes, 12) != 0;
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      keys[row] =
          switch (kind) {
            case BOOL, INT, LONG -> values.longs()[row];
            case FLOAT -> {
              float value = (float) values.doubles()[row];
              yield zerosAreEqual && value == 0 ? 0 : Float.floatToRawIntBits(value);
            }
            case DOUBLE -> {
              double value = values.doubles()[row];
              yield zerosAreEqual && value == 0 ? 0 : Double.doubleToRawLongBits(value);
            }
            case DECIMAL128, TIMESTAMP_NANOS ->
                hash(values.longs()[row], values.secondParts()[row]);
            case BYTES -> RowHash.mixBytes(values.address(row), values.length(row), seed);
            case STRUCT, LIST ->
                throw new IllegalArgumentException("expected scalar constants, got a " + kind);
          };
    }
  }

  /**
   * Probes one slot for each sought row, {@code step} slots after its hash. If the key matches,
   * writes the position, or for a two-part constant the slot offset; writes -1 if the slot is
   * empty. Branch-free: a branch would be mispredicted and would wait for the slot. The slots of
   * many rows are loaded from memory at the same time.
   *
   * @param found keys of the sought rows
   * @param sought bit mask of up to 64 rows from {@code first} on
   * @return bit mask of the rows that continue with the next slot
   */
  private long probe(long[] found, Rows rows, int first, long sought, int step) {
    byte[] table = bytes;
    long seed = seed();
    int mask = (int) INTS.get(table, 8);
    boolean keysAreHashes = kind.isTwoPart();
    long rest = 0;
    for (long left = sought; left != 0; left &= left - 1) {
      int bit = Long.numberOfTrailingZeros(left);
      int row = rows.position(first + bit);
      long key = found[row];
      long hashed = keysAreHashes ? key : RowHash.mix(key, seed);
      int slot = HEADER_BYTES + (((int) hashed + step) & mask) * SLOT_BYTES;
      long position = (int) INTS.get(table, slot + POSITION);
      long different = (long) LONGS.get(table, slot) ^ key;
      // All ones or all zeros.
      long isEmpty = position >> (LONG_BITS - 1);
      long isOther = ((different | -different) >> (LONG_BITS - 1)) & ~isEmpty;
      long end = keysAreHashes ? slot | isEmpty : position;
      found[row] = (isOther & key) | (~isOther & end);
      rest |= (isOther & 1) << bit;
    }
    return rest;
  }

  /** Replaces slot offsets of entries with equal hashes by positions. */
  private void compareEntries(HostVector values, long[] found, Rows rows) {
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      int slot = (int) found[row];
      if (slot >= 0) {
        long key = getLong(slot);
        int position = positionAt(slot);
        while (position >= 0 && !(getLong(slot) == key && isEntry(placeAt(slot), values, row))) {
          slot = next(slot);
          position = positionAt(slot);
        }
        found[row] = position;
      }
    }
  }

  private boolean isEntry(int place, HostVector values, int row) {
    return kind == ValueKind.BYTES
        ? isText(place, values.address(row), values.length(row))
        : getLong(place) == values.longs()[row]
            && getLong(place + Long.BYTES) == values.secondParts()[row];
  }

  private boolean isText(int place, long address, int length) {
    if (getLong(place) != length) {
      return false;
    }
    int text = place + Long.BYTES;
    int i = 0;
    for (; i + Long.BYTES <= length; i += Long.BYTES) {
      if (getLong(text + i) != HostMemory.getLong(address + i)) {
        return false;
      }
    }
    return i == length || getLong(text + i) == RowHash.lastWord(address, length);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ConstantTable that
        && kind == that.kind
        && hash == that.hash
        && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public String toString() {
    return "table of " + bytes.length + " bytes";
  }
}
