package io.millrace.kernel;

import io.millrace.column.ColumnReader;
import io.millrace.column.TypeId;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * The hash of the BinaryRowData that Flink builds from key columns: the twin of
 * binary_row_hash.cuh, which builds the row.
 */
final class BinaryRowHash {
  private static final int SEED = 42;
  private static final int HEADER_BYTES = 8;
  private static final int LONGEST_INLINE = 7;
  private static final int LARGEST_COMPACT_DECIMAL = 18;
  private static final int LARGE_DECIMAL_BYTES = 16;

  private BinaryRowHash() {}

  static int hash(List<ColumnReader> keys, int row) {
    ByteBuffer bytes = row(keys, row);
    int hash = SEED;
    for (int i = 0; i < bytes.capacity(); i += Integer.BYTES) {
      hash = MurmurHash3.mixWord(hash, bytes.getInt(i));
    }
    return MurmurHash3.finish(hash, bytes.capacity());
  }

  // A header of the row kind (0) and one null bit a column, a slot a column, the variable parts.
  private static ByteBuffer row(List<ColumnReader> keys, int row) {
    int fixedBytes = HEADER_BYTES + Long.BYTES * keys.size();
    int bytes = fixedBytes + keys.stream().mapToInt(key -> variableBytes(key, row)).sum();
    ByteBuffer binaryRow = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int cursor = fixedBytes;
    long header = 0;
    for (int i = 0; i < keys.size(); i++) {
      ColumnReader key = keys.get(i);
      int slot = HEADER_BYTES + Long.BYTES * i;
      if (key.isNull(row)) {
        header |= 1L << (Byte.SIZE + i);
        binaryRow.putLong(slot, variableBytes(key, row) == 0 ? 0 : (long) cursor << 32);
      } else {
        write(key, row, binaryRow, slot, cursor);
      }
      cursor += variableBytes(key, row);
    }
    return binaryRow.putLong(0, header);
  }

  // Large decimals and timestamps keep their place when null, so that they can be updated.
  private static int variableBytes(ColumnReader key, int row) {
    if (isLargeDecimal(key)) {
      return LARGE_DECIMAL_BYTES;
    }
    return switch (key.type().id()) {
      case TIMESTAMP_MICROS, TIMESTAMP_NANOS -> Long.BYTES;
      case STRING, BINARY ->
          key.isNull(row) || key.getLength(row) <= LONGEST_INLINE
              ? 0
              : (key.getLength(row) + 7) & -8;
      default -> 0;
    };
  }

  private static boolean isLargeDecimal(ColumnReader key) {
    return key.type().id() == TypeId.DECIMAL128 && key.type().precision() > LARGEST_COMPACT_DECIMAL;
  }

  private static void write(ColumnReader key, int row, ByteBuffer target, int slot, int cursor) {
    long offset = (long) cursor << 32;
    switch (key.type().id()) {
      case BOOL -> target.put(slot, (byte) (key.getBoolean(row) ? 1 : 0));
      case INT8 -> target.put(slot, key.getByte(row));
      case INT16 -> target.putShort(slot, key.getShort(row));
      case INT32, DATE, TIME, FLOAT32 -> target.putInt(slot, key.getInt(row));
      case INT64, FLOAT64, DECIMAL64, TIMESTAMP_MILLIS -> target.putLong(slot, key.getLong(row));
      case DECIMAL32 -> target.putLong(slot, key.getInt(row));
      case DECIMAL128 -> writeLargeDecimal(key, row, target, slot, cursor);
      case TIMESTAMP_MICROS -> {
        long micros = key.getLong(row);
        target.putLong(slot, offset | Math.floorMod(micros, 1_000) * 1_000L);
        target.putLong(cursor, Math.floorDiv(micros, 1_000));
      }
      case TIMESTAMP_NANOS -> {
        target.putLong(slot, offset | key.getTimestampNanosOfMilli(row));
        target.putLong(cursor, key.getTimestampMillis(row));
      }
      case STRING, BINARY -> writeBytes(key.getBytes(row), target, slot, cursor);
      default -> throw new IllegalArgumentException(key.type() + " cannot be a SQL key");
    }
  }

  private static void writeBytes(byte[] bytes, ByteBuffer target, int slot, int cursor) {
    if (bytes.length <= LONGEST_INLINE) {
      target.put(slot, bytes).put(slot + LONGEST_INLINE, (byte) (bytes.length | 0x80));
    } else {
      target.putLong(slot, (long) cursor << 32 | bytes.length).put(cursor, bytes);
    }
  }

  private static void writeLargeDecimal(
      ColumnReader key, int row, ByteBuffer target, int slot, int cursor) {
    byte[] whole =
        ByteBuffer.allocate(LARGE_DECIMAL_BYTES)
            .putLong(key.getDecimal128High(row))
            .putLong(key.getDecimal128Low(row))
            .array();
    byte[] shortest = new BigInteger(whole).toByteArray();
    target.putLong(slot, (long) cursor << 32 | shortest.length);
    target.put(cursor, Arrays.copyOf(shortest, LARGE_DECIMAL_BYTES));
  }
}
