package io.millrace.kernel;

import io.millrace.column.ColumnReader;
import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import java.util.ArrayList;
import java.util.List;

/** The hash of a row's key columns in host memory: the twin of hash.cuh. */
final class KeyHash {
  private static final int NULL_HASH = 0xffffffff;
  private static final int NO_PARENT = -1;

  /** A key column or a struct level; the fields of a struct follow it, depth first. */
  private record Level(ColumnReader reader, int parent) {
    boolean isStruct() {
      return reader.type().id() == TypeId.STRUCT;
    }
  }

  private final HashFunction function;
  private final boolean nullsPresent;
  private final List<Level> levels = new ArrayList<>();

  /**
   * @param nullsPresent whether struct levels count
   */
  KeyHash(HashFunction function, boolean nullsPresent, List<ColumnReader> keys) {
    this.function = function;
    this.nullsPresent = nullsPresent;
    keys.forEach(key -> add(key, NO_PARENT));
  }

  private void add(ColumnReader reader, int parent) {
    int position = levels.size();
    levels.add(new Level(reader, parent));
    if (reader.type().id() == TypeId.STRUCT) {
      for (int i = 0; i < reader.type().fields().size(); i++) {
        add(reader.field(i), position);
      }
    }
  }

  int hash(int row) {
    return switch (function.algorithm()) {
      case MURMUR3_32, IDENTITY -> libcudfHash(row);
      case FLINK_JAVA -> javaHash(row);
      case FLINK_BINARY_ROW -> BinaryRowHash.hash(levels.stream().map(Level::reader).toList(), row);
    };
  }

  // A column inside a null struct is null.
  private boolean isNull(int position, int row) {
    for (int i = position; i != NO_PARENT; i = levels.get(i).parent()) {
      if (levels.get(i).reader().isNull(row)) {
        return true;
      }
    }
    return false;
  }

  // libcudf takes a struct apart into one column a leaf; struct levels stay with the first leaf.
  private int libcudfHash(int row) {
    int hash = 0;
    int levelsHash = 0;
    boolean isBelowLevels = false;
    boolean isFirst = true;
    for (int i = 0; i < levels.size(); i++) {
      boolean isNull = isNull(i, row);
      if (levels.get(i).isStruct()) {
        levelsHash = nullsPresent ? combine(levelsHash, isNull ? NULL_HASH : 0) : levelsHash;
        isBelowLevels = true;
        continue;
      }
      int leaf = isNull ? NULL_HASH : libcudfHash(levels.get(i).reader(), row);
      leaf = isBelowLevels ? combine(levelsHash, leaf) : leaf;
      hash = isFirst ? leaf : combine(hash, leaf);
      levelsHash = 0;
      isBelowLevels = false;
      isFirst = false;
    }
    return hash;
  }

  private static int combine(int left, int right) {
    return left ^ (right + 0x9e3779b9 + (left << 6) + (left >>> 2));
  }

  private int libcudfHash(ColumnReader reader, int row) {
    return function.algorithm() == HashFunction.Algorithm.IDENTITY
        ? identity(reader, row)
        : murmur(reader, row, function.seed());
  }

  private static int murmur(ColumnReader reader, int row, int seed) {
    return switch (reader.type().id()) {
      case BOOL ->
          MurmurHash3.finish(MurmurHash3.mixTail(seed, reader.getBoolean(row) ? 1 : 0), Byte.BYTES);
      case INT8 ->
          MurmurHash3.finish(MurmurHash3.mixTail(seed, reader.getByte(row) & 0xff), Byte.BYTES);
      case INT16 ->
          MurmurHash3.finish(MurmurHash3.mixTail(seed, reader.getShort(row) & 0xffff), Short.BYTES);
      case INT32, DECIMAL32, DATE, TIME -> MurmurHash3.ofInt(seed, reader.getInt(row));
      case FLOAT32 ->
          MurmurHash3.ofInt(seed, Float.floatToIntBits(withoutNegativeZero(reader.getFloat(row))));
      case FLOAT64 ->
          MurmurHash3.ofLong(
              seed, Double.doubleToLongBits(withoutNegativeZero(reader.getDouble(row))));
      case INT64, DECIMAL64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS ->
          MurmurHash3.ofLong(seed, reader.getLong(row));
      case TIMESTAMP_NANOS ->
          MurmurHash3.ofLong(
              seed,
              reader.getTimestampMillis(row) * 1_000_000 + reader.getTimestampNanosOfMilli(row));
      case DECIMAL128 ->
          MurmurHash3.finish(
              MurmurHash3.mixLong(
                  MurmurHash3.mixLong(seed, reader.getDecimal128Low(row)),
                  reader.getDecimal128High(row)),
              2 * Long.BYTES);
      case STRING, BINARY ->
          MurmurHash3.ofBytes(seed, reader.getBytesAddress(row), reader.getLength(row));
      default -> throw new IllegalArgumentException(reader.type() + " cannot be hashed");
    };
  }

  private static float withoutNegativeZero(float value) {
    return value == 0 ? 0 : value;
  }

  private static double withoutNegativeZero(double value) {
    return value == 0 ? 0 : value;
  }

  // Floating point saturates as the GPU converts it: NaN is 0 for float and 2^31 for double.
  private static int identity(ColumnReader reader, int row) {
    return switch (reader.type().id()) {
      case BOOL -> reader.getBoolean(row) ? 1 : 0;
      case INT8 -> reader.getByte(row);
      case INT16 -> reader.getShort(row);
      case INT32 -> reader.getInt(row);
      case INT64 -> (int) reader.getLong(row);
      case FLOAT32 -> saturate(reader.getFloat(row), 0);
      case FLOAT64 -> saturate(reader.getDouble(row), 0x80000000);
      default -> throw new IllegalArgumentException(reader.type() + " has no identity hash");
    };
  }

  private static int saturate(double value, int notANumber) {
    if (Double.isNaN(value)) {
      return notANumber;
    }
    return (int) (long) Math.min(Math.max(value, 0), 0xffffffffL);
  }

  private int javaHash(int row) {
    int hash = 0;
    for (int i = 0; i < levels.size(); i++) {
      hash = 31 * hash + (isNull(i, row) ? 0 : javaHash(levels.get(i).reader(), row));
    }
    return hash;
  }

  private static int javaHash(ColumnReader reader, int row) {
    return switch (reader.type().id()) {
      case BOOL -> Boolean.hashCode(reader.getBoolean(row));
      case INT8 -> Byte.hashCode(reader.getByte(row));
      case INT16 -> Short.hashCode(reader.getShort(row));
      case INT32 -> Integer.hashCode(reader.getInt(row));
      case INT64 -> Long.hashCode(reader.getLong(row));
      case FLOAT32 -> Float.hashCode(reader.getFloat(row));
      case FLOAT64 -> Double.hashCode(reader.getDouble(row));
      case STRING -> javaHash(reader.getBytesAddress(row), reader.getLength(row));
      default -> throw new IllegalArgumentException(reader.type() + " has no Java hash");
    };
  }

  // String.hashCode() without the String: over UTF-16 code units, as hash.cuh decodes them.
  private static int javaHash(long address, int length) {
    int hash = 0;
    for (int i = 0; i < length; ) {
      int first = HostMemory.getByte(address + i) & 0xff;
      int continuation = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
      int point = continuation == 0 ? first : first & (0x3f >>> continuation);
      for (int k = 1; k <= continuation && i + k < length; k++) {
        point = point << 6 | (HostMemory.getByte(address + i + k) & 0x3f);
      }
      i += continuation + 1;
      if (point > Character.MAX_VALUE) {
        hash = 31 * hash + 0xd7c0 + (point >>> 10);
        point = 0xdc00 + (point & 0x3ff);
      }
      hash = 31 * hash + point;
    }
    return hash;
  }
}
