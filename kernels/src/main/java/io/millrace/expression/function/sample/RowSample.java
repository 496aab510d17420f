// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.sample;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.RowHash;
import io.millrace.expression.vector.TimestampNanos;
import io.millrace.expression.vector.ValueKind;
import java.math.BigDecimal;
import java.util.List;

/**
 * Samples rows by a hash of their values, so that a row is chosen or not independently of place and
 * time. Rows with equal values are chosen together. The hash is computed as in {@code row_hash.cu}.
 */
@PublicEvolving
public final class RowSample {
  private static final double RANGE = 0x1p64;

  private RowSample() {}

  /**
   * The condition that is true for sampled rows.
   *
   * @param schema schema of the rows; BINARY, ARRAY, ROW and DICTIONARY columns are ignored
   * @param fraction expected share of distinct rows, 0 to 1
   * @param seed selects a different sample
   * @throws ExpressionException if the fraction is outside 0 to 1 or every column is ignored
   */
  public static TypedExpression condition(Schema schema, double fraction, long seed) {
    if (!(fraction >= 0 && fraction <= 1)) {
      throw new ExpressionException("expected a fraction from 0 to 1, got " + fraction);
    }
    TypedExpression hash = new TypedExpression.Literal(seed, DataType.INT64);
    boolean counts = false;
    for (int i = 0; i < schema.size(); i++) {
      Field field = schema.field(i);
      if (isHashed(field.type())) {
        hash =
            add(
                new TypedExpression.InputReference(i, field.name(), field.type(), field.nullable()),
                hash);
        counts = true;
      }
    }
    if (!counts) {
      throw new ExpressionException("there is no column to choose rows by");
    }
    // Compares with the least hashes; no bound is above the greatest hash.
    long bound = (long) (fraction * RANGE + Long.MIN_VALUE);
    boolean all = fraction == 1;
    return BoundFunction.named("SAMPLE")
        .parameters(all)
        .sql(operands -> "SAMPLE(" + fraction + ", " + seed + ")")
        .host(HostFunction.ofLongs((hashed, most) -> hashed < most || all ? 1 : 0))
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) ->
                    ptx.write(
                        "setp.%s.s64 %s, %s, %s",
                        all ? "le" : "lt",
                        result.register(),
                        operands.get(0).register(),
                        operands.get(1).register())))
        .call(List.of(hash, new TypedExpression.Literal(bound, DataType.INT64)), DataType.BOOL);
  }

  private static boolean isHashed(DataType type) {
    return type.id().isScalar() && type.id() != TypeId.BINARY;
  }

  // A null is hashed as a null marker followed by an arbitrary value.
  private static TypedExpression add(TypedExpression value, TypedExpression hash) {
    if (!value.nullable()) {
      return hash(value, hash);
    }
    TypedExpression isNull = new TypedExpression.IsNull(value);
    TypedExpression some = new TypedExpression.Literal(someValue(value.type()), value.type());
    return hash(
        new TypedExpression.Case(List.of(isNull), List.of(some, value)), hash(isNull, hash));
  }

  private static Object someValue(DataType type) {
    return switch (ValueKind.of(type)) {
      case BOOL -> false;
      case FLOAT -> 0f;
      case DOUBLE -> 0.0;
      case TIMESTAMP_NANOS -> new TimestampNanos(0, 0);
      case BYTES -> "";
      case INT, LONG, DECIMAL128 ->
          type.isDecimal() ? BigDecimal.ZERO.setScale(type.scale()) : (Object) 0L;
      case STRUCT, LIST -> throw notScalar(type);
    };
  }

  private static TypedExpression hash(TypedExpression value, TypedExpression hash) {
    BoundFunction.Builder function = BoundFunction.named("ROW_HASH").sql(operands -> "ROW_HASH(*)");
    switch (ValueKind.of(value.type())) {
      case BOOL, INT -> function.host(HostFunction.ofLongs(RowHash::mix)).device("row_hash_int32");
      case LONG -> function.host(HostFunction.ofLongs(RowHash::mix)).device("row_hash_int64");
      case FLOAT -> function.host(HostFunction.ofRow(RowSample::mixFloat)).device("row_hash_float");
      case DOUBLE ->
          function.host(HostFunction.ofRow(RowSample::mixDouble)).device("row_hash_double");
      case DECIMAL128 ->
          function.host(HostFunction.ofRow(RowSample::mixDecimal)).device("row_hash_decimal128");
      case TIMESTAMP_NANOS ->
          function
              .host(HostFunction.ofRow(RowSample::mixTimestamp))
              .device("row_hash_timestamp_nanos");
      case BYTES -> function.host(HostFunction.ofRow(RowSample::mixBytes)).device("row_hash_bytes");
      case STRUCT, LIST -> throw notScalar(value.type());
    }
    return function.call(List.of(value, hash), DataType.INT64, false);
  }

  private static IllegalArgumentException notScalar(DataType type) {
    return new IllegalArgumentException("expected a scalar column to hash, got " + type);
  }

  private static void mixFloat(HostVector[] operands, HostVector result, int row) {
    int bits = Float.floatToIntBits((float) operands[0].doubles()[row]);
    result.longs()[row] = RowHash.mix(bits & 0xffffffffL, operands[1].longs()[row]);
  }

  private static void mixDouble(HostVector[] operands, HostVector result, int row) {
    long bits = Double.doubleToLongBits(operands[0].doubles()[row]);
    result.longs()[row] = RowHash.mix(bits, operands[1].longs()[row]);
  }

  private static void mixDecimal(HostVector[] operands, HostVector result, int row) {
    long low = RowHash.mix(operands[0].longs()[row], operands[1].longs()[row]);
    result.longs()[row] = RowHash.mix(operands[0].secondParts()[row], low);
  }

  private static void mixTimestamp(HostVector[] operands, HostVector result, int row) {
    long millis = RowHash.mix(operands[0].longs()[row], operands[1].longs()[row]);
    result.longs()[row] = RowHash.mix(operands[0].secondParts()[row], millis);
  }

  private static void mixBytes(HostVector[] operands, HostVector result, int row) {
    result.longs()[row] =
        RowHash.mixBytes(
            operands[0].address(row), operands[0].length(row), operands[1].longs()[row]);
  }
}
