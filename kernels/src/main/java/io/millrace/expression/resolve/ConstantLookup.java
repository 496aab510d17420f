// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ConstantTable;
import io.millrace.expression.typed.ConstantValues;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.Literal;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.ValueKind;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Calls that look values up in tables of constants. Neither the time per row nor the time to
 * compile the kernel depends on the number of constants; kernels read the tables from memory.
 */
@Internal
public final class ConstantLookup {
  /** Number of constants from which a table lookup is faster than comparing with each. */
  public static final int MIN_CONSTANTS = 8;

  private static final int MAX_WRITTEN = 8;

  private ConstantLookup() {}

  /**
   * Tests whether a value is one of the constants ({@code within}) or none of them; null if the
   * value is null.
   *
   * @param constants non-empty, non-null, of the type of the value; NaN equals nothing
   * @param zerosAreEqual true if -0.0 equals 0.0; otherwise -0.0 equals no constant
   */
  public static TypedExpression isIn(
      boolean within, TypedExpression value, List<Literal> constants, boolean zerosAreEqual) {
    List<Literal> comparable =
        ValueKind.of(constants.get(0).type()).isFloating()
            ? constants.stream().filter(ConstantLookup::equalsItself).toList()
            : constants;
    if (comparable.isEmpty()) {
      return isIn(within, value, constants.subList(0, 1), new int[] {-1}, zerosAreEqual);
    }
    return isIn(within, value, comparable, new int[comparable.size()], zerosAreEqual);
  }

  private static TypedExpression isIn(
      boolean within,
      TypedExpression value,
      List<Literal> constants,
      int[] positions,
      boolean zerosAreEqual) {
    String name = within ? "IN" : "NOT IN";
    String list = written(constants);
    return BoundFunction.named(name)
        .host((operands, result, rows) -> isFound(within, operands[0].longs(), result, rows))
        .device(comparison(within ? "ge" : "lt"))
        .sql(operands -> "(" + operands.get(0) + " " + name + " " + list + ")")
        .call(
            List.of(
                position(value, new ConstantTable(constants, positions, zerosAreEqual)), zero()),
            DataType.BOOL);
  }

  private static void isFound(boolean within, long[] positions, HostVector result, Rows rows) {
    int ofFound = within ? 1 : 0;
    long[] results = result.longs();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      results[row] = ofFound ^ (positions[row] < 0 ? 1 : 0);
    }
  }

  static boolean equalsItself(Literal constant) {
    return !(constant.value() instanceof Float || constant.value() instanceof Double)
        || !Double.isNaN(((Number) constant.value()).doubleValue());
  }

  private static String written(List<Literal> constants) {
    Stream<String> first = constants.stream().limit(MAX_WRITTEN).map(Literal::toString);
    Stream<String> rest = constants.size() > MAX_WRITTEN ? Stream.of("...") : Stream.empty();
    return Stream.concat(first, rest).collect(Collectors.joining(", ", "(", ")"));
  }

  private static Literal zero() {
    return number(0);
  }

  private static Literal number(long value) {
    return new Literal(value, DataType.INT32);
  }

  private static DeviceFunction comparison(String condition) {
    return DeviceFunction.instructions(
        (ptx, operands, result) ->
            ptx.write(
                "setp.%s.s32 %s, %s, %s",
                condition,
                result.register(),
                operands.get(0).register(),
                operands.get(1).register()));
  }

  /**
   * The position of a value in a table, or -1 if it is absent; its SQL text is the text of the
   * value.
   */
  static TypedExpression position(TypedExpression value, ConstantTable table) {
    return BoundFunction.named("POSITION OF CONSTANT")
        .parameters(table)
        .host(table::find)
        .device(
            DeviceFunction.callWithTable(
                "constant_position_" + suffix(value.type()), table.bytes()))
        .sql(operands -> operands.get(0))
        .call(List.of(value), DataType.INT32);
  }

  /** Whether a position equals {@code number}. */
  static TypedExpression isAt(TypedExpression position, int number) {
    return BoundFunction.named("IS AT")
        .host(HostFunction.ofLongs((left, right) -> left == right ? 1 : 0))
        .device(comparison("eq"))
        .call(List.of(position, number(number)), DataType.BOOL);
  }

  /** Whether a position refers to a constant. */
  static TypedExpression isFound(TypedExpression position) {
    return BoundFunction.named("IS FOUND")
        .host(HostFunction.ofLong(number -> number >= 0 ? 1 : 0))
        .device(comparison("ge"))
        .call(List.of(position, zero()), DataType.BOOL);
  }

  /**
   * The constant with a number.
   *
   * @param constants non-null, of one type
   * @param number less than the number of constants in every evaluated row
   */
  static TypedExpression at(TypedExpression number, List<Literal> constants) {
    DataType type = constants.get(0).type();
    ConstantValues values = new ConstantValues(constants);
    return BoundFunction.named("CONSTANT")
        .parameters(values)
        .host(values::get)
        .device(DeviceFunction.callWithTable("constant_at_" + suffix(type), values.bytes()))
        .within(ResultSizeLimit.constant(values.longest()))
        .sql(operands -> "CONSTANT(" + operands.get(0) + ")")
        .call(List.of(number), type, false);
  }

  private static String suffix(DataType type) {
    return switch (ValueKind.of(type)) {
      case BOOL, INT -> "int32";
      case LONG -> "int64";
      case FLOAT, DOUBLE, DECIMAL128, TIMESTAMP_NANOS, BYTES ->
          ValueKind.of(type).name().toLowerCase(Locale.ROOT);
      case STRUCT, LIST ->
          throw new IllegalArgumentException("expected scalar constants, got " + type);
    };
  }
}
