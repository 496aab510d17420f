// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.hash;

import io.millrace.column.TypeId;
import java.util.Arrays;

/**
 * The hash of the BinaryRowData that Flink builds from key columns, without building the row: the
 * host implementation of binary_row_hash.cuh.
 *
 * <p>The row consists of a header with the row kind (0) and one null bit per column, a slot of 8
 * bytes per column, and the variable parts, each padded with zeros to 8 bytes. The row is hashed as
 * words, so the columns are visited twice: for the slots, which hold the offsets of the variable
 * parts, and for the variable parts.
 */
final class BinaryRowHash implements ChunkHash {
  private static final int SEED = 42;
  private static final int HEADER_BYTES = 8;
  private static final int ONE_COLUMN_BYTES = HEADER_BYTES + Long.BYTES;
  private static final int LONGEST_INLINE = 7;
  private static final int LARGE_DECIMAL_BYTES = 16;
  private static final int MICROS_PER_MILLI = 1_000;
  private static final long NANOS_PER_MICRO = 1_000;

  private static final int HASH_OF_NO_NULLS = MurmurHash3.mixLong(SEED, 0);
  private static final int LENGTHS = 256;

  // For a row of one column with a variable part: the hash of header and slot, by length.
  private static final int[] HASHES_OF_SLOTS = new int[LENGTHS];

  static {
    Arrays.setAll(HASHES_OF_SLOTS, BinaryRowHash::hashOfSlot);
  }

  // For each row of the chunk: the null bits, a slot, and the bytes of the row so far.
  private final long[] headers;
  private final long[] slots;
  private final int[] ends;

  BinaryRowHash(int capacity) {
    this.headers = new long[capacity];
    this.slots = new long[capacity];
    this.ends = new int[capacity];
  }

  @Override
  public void hash(KeyVector[] columns, int count, int[] hashes) {
    if (columns.length == 1 && !columns[0].hasNulls()) {
      KeyVector column = columns[0];
      if (isInSlot(column.id())) {
        hashOneSlot(column, count, hashes);
        return;
      } else if (column.id().isVariableWidth()) {
        hashOneRun(column, count, hashes);
        return;
      }
    }
    Arrays.fill(ends, 0, count, HEADER_BYTES + Long.BYTES * columns.length);
    mixHeaders(columns, count, hashes);
    for (KeyVector column : columns) {
      writeSlots(column, count);
      for (int i = 0; i < count; i++) {
        hashes[i] = MurmurHash3.mixLong(hashes[i], slots[i]);
      }
    }
    for (KeyVector column : columns) {
      mixVariableParts(column, count, hashes);
    }
    for (int i = 0; i < count; i++) {
      hashes[i] = MurmurHash3.finish(hashes[i], ends[i]);
    }
  }

  private static void hashOneSlot(KeyVector column, int count, int[] hashes) {
    long[] values = column.values();
    long mask = slotMask(column.id());
    for (int i = 0; i < count; i++) {
      int mixed = MurmurHash3.mixLong(HASH_OF_NO_NULLS, values[i] & mask);
      hashes[i] = MurmurHash3.finish(mixed, ONE_COLUMN_BYTES);
    }
  }

  private static void hashOneRun(KeyVector column, int count, int[] hashes) {
    long[] addresses = column.values();
    long[] lengths = column.seconds();
    for (int i = 0; i < count; i++) {
      hashes[i] = ofOneRun(addresses[i], (int) lengths[i]);
    }
  }

  private static int ofOneRun(long address, int length) {
    if (length <= LONGEST_INLINE) {
      int mixed = MurmurHash3.mixLong(HASH_OF_NO_NULLS, inlineSlot(address, length));
      return MurmurHash3.finish(mixed, ONE_COLUMN_BYTES);
    }
    int start = length < LENGTHS ? HASHES_OF_SLOTS[length] : hashOfSlot(length);
    int mixed = MurmurHash3.mixBytes(start, address, length);
    return MurmurHash3.finish(mixed, ONE_COLUMN_BYTES + ((length + 7) & -8));
  }

  private static int hashOfSlot(int length) {
    return MurmurHash3.mixLong(HASH_OF_NO_NULLS, (long) ONE_COLUMN_BYTES << 32 | length);
  }

  private static long inlineSlot(long address, int length) {
    return MurmurHash3.longOfBytes(address, length)
        | (length | 0x80L) << (Byte.SIZE * LONGEST_INLINE);
  }

  private void mixHeaders(KeyVector[] columns, int count, int[] hashes) {
    Arrays.fill(headers, 0, count, 0);
    boolean hasNulls = false;
    for (int c = 0; c < columns.length; c++) {
      if (columns[c].hasNulls()) {
        hasNulls = true;
        long bit = 1L << (Byte.SIZE + c);
        for (int i = 0; i < count; i++) {
          headers[i] |= columns[c].isNull(i) ? bit : 0;
        }
      }
    }
    Arrays.fill(hashes, 0, count, HASH_OF_NO_NULLS);
    for (int i = 0; hasNulls && i < count; i++) {
      hashes[i] = MurmurHash3.mixLong(SEED, headers[i]);
    }
  }

  /** Whether the value itself is in the slot. */
  private static boolean isInSlot(TypeId id) {
    return slotMask(id) != 0;
  }

  /** The bits of a value that its slot holds; 0 if the slot holds the offset of the value. */
  private static long slotMask(TypeId id) {
    return switch (id) {
      case BOOL, INT8 -> 0xff;
      case INT16 -> 0xffff;
      case INT32, DATE, TIME, FLOAT32 -> 0xffffffffL;
      case INT64, FLOAT64, DECIMAL32, DECIMAL64, TIMESTAMP_MILLIS -> ~0L;
      default -> 0;
    };
  }

  private void writeSlots(KeyVector column, int count) {
    if (isInSlot(column.id())) {
      writeValues(column, slotMask(column.id()), count);
      return;
    }
    switch (column.id()) {
      case DECIMAL128 -> {
        for (int i = 0; i < count; i++) {
          int length = column.isNull(i) ? 0 : decimalBytes(column.values()[i], column.seconds()[i]);
          place(i, length, LARGE_DECIMAL_BYTES);
        }
      }
      case TIMESTAMP_MICROS -> {
        for (int i = 0; i < count; i++) {
          long micros = column.isNull(i) ? 0 : column.values()[i];
          place(i, Math.floorMod(micros, MICROS_PER_MILLI) * NANOS_PER_MICRO, Long.BYTES);
        }
      }
      case TIMESTAMP_NANOS -> {
        for (int i = 0; i < count; i++) {
          place(i, column.isNull(i) ? 0 : column.seconds()[i], Long.BYTES);
        }
      }
      case STRING, BINARY -> writeBytes(column, count);
      default -> throw new IllegalArgumentException(column.id() + " cannot be a SQL key");
    }
  }

  private void writeValues(KeyVector column, long mask, int count) {
    long[] values = column.values();
    for (int i = 0; i < count; i++) {
      slots[i] = values[i] & mask;
    }
    for (int i = 0; column.hasNulls() && i < count; i++) {
      slots[i] = column.isNull(i) ? 0 : slots[i];
    }
  }

  private void writeBytes(KeyVector column, int count) {
    for (int i = 0; i < count; i++) {
      int length = (int) column.seconds()[i];
      if (column.isNull(i)) {
        slots[i] = 0;
      } else if (length <= LONGEST_INLINE) {
        slots[i] = inlineSlot(column.values()[i], length);
      } else {
        place(i, length, (length + 7) & -8);
      }
    }
  }

  // Large decimals and timestamps take space also if they are null, since Flink updates them in
  // place.
  private void place(int row, long low, int bytes) {
    slots[row] = (long) ends[row] << 32 | low;
    ends[row] += bytes;
  }

  private static void mixVariableParts(KeyVector column, int count, int[] hashes) {
    long[] values = column.values();
    switch (column.id()) {
      case DECIMAL128 -> {
        for (int i = 0; i < count; i++) {
          boolean isNull = column.isNull(i);
          long high = isNull ? 0 : column.seconds()[i];
          hashes[i] = mixDecimal(hashes[i], isNull ? 0 : values[i], high);
        }
      }
      case TIMESTAMP_MICROS -> {
        for (int i = 0; i < count; i++) {
          long millis = column.isNull(i) ? 0 : Math.floorDiv(values[i], MICROS_PER_MILLI);
          hashes[i] = MurmurHash3.mixLong(hashes[i], millis);
        }
      }
      case TIMESTAMP_NANOS -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = MurmurHash3.mixLong(hashes[i], column.isNull(i) ? 0 : values[i]);
        }
      }
      case STRING, BINARY -> {
        for (int i = 0; i < count; i++) {
          int length = column.isNull(i) ? 0 : (int) column.seconds()[i];
          if (length > LONGEST_INLINE) {
            hashes[i] = MurmurHash3.mixBytes(hashes[i], values[i], length);
          }
        }
      }
      default -> {
        // The slot holds the whole value.
      }
    }
  }

  /** The length of {@code BigInteger.toByteArray()}. */
  private static int decimalBytes(long low, long high) {
    long sign = high >> 63;
    long magnitudeHigh = high ^ sign;
    int bits =
        magnitudeHigh != 0
            ? 2 * Long.SIZE - Long.numberOfLeadingZeros(magnitudeHigh)
            : Long.SIZE - Long.numberOfLeadingZeros(low ^ sign);
    return bits / Byte.SIZE + 1;
  }

  // The bytes of BigInteger.toByteArray(), most significant byte first, then zeros.
  private static int mixDecimal(int hash, long low, long high) {
    int shift = Byte.SIZE * (LARGE_DECIMAL_BYTES - decimalBytes(low, high));
    long first = high;
    long second = low;
    if (shift >= Long.SIZE) {
      first = low << (shift - Long.SIZE);
      second = 0;
    } else if (shift > 0) {
      first = high << shift | low >>> (Long.SIZE - shift);
      second = low << shift;
    }
    int mixed = MurmurHash3.mixLong(hash, Long.reverseBytes(first));
    return MurmurHash3.mixLong(mixed, Long.reverseBytes(second));
  }
}
