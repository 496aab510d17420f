// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.comparison;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.logical.LogicalFunctions;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.ValueKind;
import java.util.List;
import java.util.Locale;

/**
 * The six comparisons of two values of one type. NaN compares as in Java (not equal to and not
 * ordered with anything) and -0.0 equals 0.0. Bytes compare as unsigned; a prefix is less than the
 * longer string.
 */
@Internal
public enum Comparison {
  EQUAL("=", "eq", "eq"),
  NOT_EQUAL("<>", "ne", "neu"),
  LESS("<", "lt", "lt"),
  LESS_OR_EQUAL("<=", "le", "le"),
  GREATER(">", "gt", "gt"),
  GREATER_OR_EQUAL(">=", "ge", "ge");

  private final String symbol;
  private final String condition;
  private final String floatingCondition;

  Comparison(String symbol, String condition, String floatingCondition) {
    this.symbol = symbol;
    this.condition = condition;
    this.floatingCondition = floatingCondition;
  }

  String symbol() {
    return symbol;
  }

  private boolean holds(int order) {
    return switch (this) {
      case EQUAL -> order == 0;
      case NOT_EQUAL -> order != 0;
      case LESS -> order < 0;
      case LESS_OR_EQUAL -> order <= 0;
      case GREATER -> order > 0;
      case GREATER_OR_EQUAL -> order >= 0;
    };
  }

  private boolean holds(double left, double right) {
    return switch (this) {
      case EQUAL -> left == right;
      case NOT_EQUAL -> left != right;
      case LESS -> left < right;
      case LESS_OR_EQUAL -> left <= right;
      case GREATER -> left > right;
      case GREATER_OR_EQUAL -> left >= right;
    };
  }

  /**
   * Compares two expressions after casting them to their common type. A STRING is cast to the type
   * of the other side.
   *
   * @throws ExpressionException if there is no common type or it has no order
   */
  public TypedExpression of(TypedExpression left, TypedExpression right, BindingContext context) {
    if (ImplicitStringComparison.compares(left, right)) {
      return ImplicitStringComparison.of(this, left, right, context);
    }
    boolean isOrder = this != EQUAL && this != NOT_EQUAL;
    if (isOrder && DecimalComparison.orders(left.type(), right.type())) {
      boolean isLess = this == LESS || this == LESS_OR_EQUAL;
      boolean orEqual = this == LESS_OR_EQUAL || this == GREATER_OR_EQUAL;
      return isLess
          ? DecimalComparison.less(orEqual, left, right, context)
          : DecimalComparison.less(orEqual, right, left, context);
    }
    DataType type = commonType(left, right);
    ValueKind kind = ValueKind.of(type);
    if (kind == ValueKind.BOOL && isOrder) {
      throw new ExpressionException("BOOLEAN values have no order");
    }
    return BoundFunction.named(symbol)
        .host(host(kind))
        .device(device(kind))
        .sql(operands -> "(" + String.join(" " + symbol + " ", operands) + ")")
        .call(
            List.of(Coercion.cast(left, type, context), Coercion.cast(right, type, context)),
            DataType.BOOL);
  }

  /**
   * Compares two values as Flink's generated code does, where {@link #of} has the casts that its
   * planner adds to operands of {@code =} and {@code <>} alone: decimals are compared exactly, a
   * FLOAT and a DOUBLE as DOUBLE, and times as in an order.
   *
   * @throws ExpressionException as {@link #of}
   */
  TypedExpression ofUncast(TypedExpression left, TypedExpression right, BindingContext context) {
    DataType ofLeft = left.type();
    DataType ofRight = right.type();
    if (ofLeft.isNumeric() && ofRight.isNumeric() && DecimalComparison.orders(ofLeft, ofRight)) {
      TypedExpression equal =
          new TypedExpression.And(
              List.of(
                  LESS_OR_EQUAL.of(left, right, context),
                  GREATER_OR_EQUAL.of(left, right, context)));
      return this == EQUAL ? equal : LogicalFunctions.not(equal);
    }
    boolean areFloating = ofLeft.isFloatingPoint() && ofRight.isFloatingPoint();
    if (!areFloating && !areMixedTimestamps(ofLeft, ofRight)) {
      return of(left, right, context);
    }
    DataType type = LESS.commonType(left, right);
    return of(Coercion.cast(left, type, context), Coercion.cast(right, type, context), context);
  }

  /**
   * The type to compare in. Flink compares a FLOAT with a DOUBLE for equality in the type of the
   * left side.
   */
  DataType commonType(TypedExpression left, TypedExpression right) {
    boolean isEquality = this == EQUAL || this == NOT_EQUAL;
    if (isEquality && left.type().isFloatingPoint() && right.type().isFloatingPoint()) {
      return left.type();
    }
    return areMixedTimestamps(left.type(), right.type())
        ? commonTimestamp(isEquality, left.type(), right.type())
        : Coercion.commonType(List.of(left, right));
  }

  private static boolean areMixedTimestamps(DataType left, DataType right) {
    return left.isTimestamp() && right.isTimestamp() && left.withTimeZone() != right.withTimeZone();
  }

  // Local times and instants have different orders where clocks were set back. In an order, Flink's
  // generated code takes the type of the side with more digits, or else of the right side. Of an
  // equality, its planner casts the right side where both have as many digits, and the left side
  // otherwise.
  private static DataType commonTimestamp(boolean isEquality, DataType left, DataType right) {
    int precision = Math.max(left.precision(), right.precision());
    boolean isOfLeft =
        isEquality ? left.precision() == right.precision() : left.precision() > right.precision();
    return DataType.timestamp(precision, (isOfLeft ? left : right).withTimeZone());
  }

  private HostFunction host(ValueKind kind) {
    return switch (kind) {
      case BOOL, INT, LONG -> this::compareLongs;
      case FLOAT, DOUBLE -> this::compareDoubles;
      case DECIMAL128 -> ofOrder(Comparison::orderOfDecimals);
      case TIMESTAMP_NANOS -> ofOrder(Comparison::orderOfTimestamps);
      case BYTES -> ofOrder(Comparison::orderOfBytes);
      case STRUCT, LIST -> throw notScalar(kind);
    };
  }

  private void compareLongs(HostVector[] operands, HostVector result, Rows rows) {
    long[] left = operands[0].longs();
    long[] right = operands[1].longs();
    long[] results = result.longs();
    if (rows.isDense()) {
      compareLongs(left, right, results, rows.count());
    } else {
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        results[row] = holds(Long.compare(left[row], right[row])) ? 1 : 0;
      }
    }
  }

  private void compareLongs(long[] left, long[] right, long[] results, int count) {
    switch (this) {
      case EQUAL -> {
        for (int i = 0; i < count; i++) {
          results[i] = left[i] == right[i] ? 1 : 0;
        }
      }
      case NOT_EQUAL -> {
        for (int i = 0; i < count; i++) {
          results[i] = left[i] != right[i] ? 1 : 0;
        }
      }
      case LESS -> {
        for (int i = 0; i < count; i++) {
          results[i] = left[i] < right[i] ? 1 : 0;
        }
      }
      case LESS_OR_EQUAL -> {
        for (int i = 0; i < count; i++) {
          results[i] = left[i] <= right[i] ? 1 : 0;
        }
      }
      case GREATER -> LESS.compareLongs(right, left, results, count);
      case GREATER_OR_EQUAL -> LESS_OR_EQUAL.compareLongs(right, left, results, count);
    }
  }

  private void compareDoubles(HostVector[] operands, HostVector result, Rows rows) {
    double[] left = operands[0].doubles();
    double[] right = operands[1].doubles();
    long[] results = result.longs();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      results[row] = holds(left[row], right[row]) ? 1 : 0;
    }
  }

  @FunctionalInterface
  private interface Order {
    int of(HostVector left, HostVector right, int row);
  }

  private HostFunction ofOrder(Order order) {
    return HostFunction.ofRow(
        (operands, result, row) ->
            result.setBoolean(row, holds(order.of(operands[0], operands[1], row))));
  }

  private static int orderOfDecimals(HostVector left, HostVector right, int row) {
    int high = Long.compare(left.secondParts()[row], right.secondParts()[row]);
    return high != 0 ? high : Long.compareUnsigned(left.longs()[row], right.longs()[row]);
  }

  private static int orderOfTimestamps(HostVector left, HostVector right, int row) {
    int millis = Long.compare(left.longs()[row], right.longs()[row]);
    return millis != 0 ? millis : Long.compare(left.secondParts()[row], right.secondParts()[row]);
  }

  private static int orderOfBytes(HostVector left, HostVector right, int row) {
    return ByteOrderComparison.compare(
        left.address(row), left.length(row), right.address(row), right.length(row));
  }

  private DeviceFunction device(ValueKind kind) {
    return switch (kind) {
      case BOOL -> DeviceFunction.instructions(this::emitBooleans);
      case INT -> simple("setp." + condition + ".s32");
      case LONG -> simple("setp." + condition + ".s64");
      case FLOAT -> simple("setp." + floatingCondition + ".f32");
      case DOUBLE -> simple("setp." + floatingCondition + ".f64");
      case DECIMAL128 -> DeviceFunction.instructions(this::emitDecimals);
      case TIMESTAMP_NANOS -> DeviceFunction.instructions(this::emitTimestamps);
      case BYTES -> DeviceFunction.call("bytes_" + name().toLowerCase(Locale.ROOT));
      case STRUCT, LIST -> throw notScalar(kind);
    };
  }

  private static ExpressionException notScalar(ValueKind kind) {
    return new ExpressionException("expected scalar values to compare, got a " + kind);
  }

  private static DeviceFunction simple(String instruction) {
    return DeviceFunction.instructions(
        (ptx, operands, result) ->
            ptx.write(
                "%s %s, %s, %s",
                instruction,
                result.register(),
                operands.get(0).register(),
                operands.get(1).register()));
  }

  private void emitBooleans(PtxWriter ptx, List<PtxValue> operands, PtxValue result) {
    ptx.write(
        "xor.pred %s, %s, %s",
        result.register(), operands.get(0).register(), operands.get(1).register());
    if (this == EQUAL) {
      ptx.write("not.pred %s, %s", result.register(), result.register());
    }
  }

  private void emitDecimals(PtxWriter ptx, List<PtxValue> operands, PtxValue result) {
    emitTwoParts(
        ptx,
        result,
        operands.get(0).secondPart(),
        operands.get(1).secondPart(),
        ".s64",
        operands.get(0).register(),
        operands.get(1).register(),
        ".u64");
  }

  private void emitTimestamps(PtxWriter ptx, List<PtxValue> operands, PtxValue result) {
    emitTwoParts(
        ptx,
        result,
        operands.get(0).register(),
        operands.get(1).register(),
        ".s64",
        operands.get(0).secondPart(),
        operands.get(1).secondPart(),
        ".s32");
  }

  /** Compares the second parts if the first parts are equal. */
  private void emitTwoParts(
      PtxWriter ptx,
      PtxValue result,
      String left,
      String right,
      String type,
      String leftSecond,
      String rightSecond,
      String secondType) {
    String equal = ptx.register(".pred");
    String first = ptx.register(".pred");
    String second = ptx.register(".pred");
    String strict = this == LESS_OR_EQUAL ? "lt" : this == GREATER_OR_EQUAL ? "gt" : condition;
    ptx.write("setp.eq%s %s, %s, %s", type, equal, left, right);
    ptx.write("setp.%s%s %s, %s, %s", strict, type, first, left, right);
    ptx.write("setp.%s%s %s, %s, %s", condition, secondType, second, leftSecond, rightSecond);
    if (this == NOT_EQUAL) {
      ptx.write("or.pred %s, %s, %s", result.register(), first, second);
    } else {
      ptx.write("and.pred %s, %s, %s", second, second, equal);
      if (this == EQUAL) {
        ptx.write("mov.pred %s, %s", result.register(), second);
      } else {
        ptx.write("or.pred %s, %s, %s", result.register(), first, second);
      }
    }
  }
}
