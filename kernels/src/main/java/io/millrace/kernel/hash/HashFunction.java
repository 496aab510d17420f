// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.hash;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import java.io.Serializable;
import java.util.Objects;

/**
 * A function from the key of a row to 32 bits, with the same result on every device.
 *
 * @param algorithm the algorithm
 * @param seed the initial value of MURMUR3_32; 0 for the others
 */
@PublicEvolving
public record HashFunction(Algorithm algorithm, int seed) implements Serializable {
  private static final long serialVersionUID = 1L;

  /** libcudf's default. */
  public static final HashFunction MURMUR3_32 = murmur3(0);

  /** The integer itself, as libcudf's HASH_IDENTITY. */
  public static final HashFunction IDENTITY = new HashFunction(Algorithm.IDENTITY, 0);

  /** {@code hashCode()} of Java's key objects, the hash of keyBy on a Flink DataStream. */
  public static final HashFunction FLINK_JAVA = new HashFunction(Algorithm.FLINK_JAVA, 0);

  /** {@code hashCode()} of the key as Flink's BinaryRowData: what Flink SQL keys by. */
  public static final HashFunction FLINK_BINARY_ROW =
      new HashFunction(Algorithm.FLINK_BINARY_ROW, 0);

  /** The functions; their order is the kernels' numbering. */
  public enum Algorithm {
    /**
     * MurmurHash3 over the value's own width; -0.0 is 0.0 and all NaNs are one; a null is
     * 0xffffffff. The first column's hash counts alone, further ones are combined with it. A struct
     * is hashed as its leaves, and its levels count only if some key may be null.
     */
    MURMUR3_32,
    /** The value of a number, cut to 32 bits; nulls and further columns as MURMUR3_32. */
    IDENTITY,
    /**
     * {@code hashCode()} of the object that Flink's external rows have for the value: Boolean,
     * Byte, Short, Integer, Long, Float, Double, String, BigDecimal of the column's scale,
     * LocalDate, LocalTime, LocalDateTime, or Instant (TIMESTAMP_LTZ). BINARY is hashed as {@code
     * Arrays.hashCode(byte[])}, since Flink takes no array as a key. A null is 0. Several columns
     * are hashed as Flink's tuples of these. No structs and no bitmaps.
     */
    FLINK_JAVA,
    /** The hash of the binary row that holds the key columns; no structs. */
    FLINK_BINARY_ROW
  }

  public HashFunction {
    Objects.requireNonNull(algorithm, "algorithm is null");
  }

  /** libcudf's MurmurHash3 with a seed. */
  public static HashFunction murmur3(int seed) {
    return new HashFunction(Algorithm.MURMUR3_32, seed);
  }

  /** Whether key columns of this type can be hashed. */
  public boolean supports(DataType type) {
    return switch (algorithm) {
      case MURMUR3_32 ->
          type.id() == TypeId.STRUCT
              ? !type.fields().isEmpty()
                  && type.fields().stream().allMatch(field -> supports(field.type()))
              : type.id().isScalar();
      case IDENTITY ->
          switch (type.id()) {
            case BOOL, INT8, INT16, INT32, INT64, FLOAT32, FLOAT64 -> true;
            default -> false;
          };
      case FLINK_JAVA -> type.id().isScalar() && !type.isBitmap();
      case FLINK_BINARY_ROW -> type.id().isScalar();
    };
  }
}
