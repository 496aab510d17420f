// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.conditional;

import io.millrace.expression.function.comparison.Comparison;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.ValueKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The greater or the lesser of two values of one type. Both are evaluated; the result is null if
 * either is null. Floating-point numbers are ordered by {@link Double#compare}: NaN last, -0.0
 * before 0.0.
 */
enum GreatestLeast {
  GREATEST(Comparison.GREATER, "max"),
  LEAST(Comparison.LESS, "min");

  private final Comparison comparison;
  private final String instruction;

  GreatestLeast(Comparison comparison, String instruction) {
    this.comparison = comparison;
    this.instruction = instruction;
  }

  TypedExpression of(TypedExpression left, TypedExpression right, BindingContext context) {
    ValueKind kind = ValueKind.of(left.type());
    return switch (kind) {
      case INT, LONG ->
          BoundFunction.named(name())
              .host(HostFunction.ofLongs(this == GREATEST ? Math::max : Math::min))
              .device(
                  DeviceFunction.instructions(
                      (ptx, in, out) -> emit(ptx, in, out, kind == ValueKind.INT ? "s32" : "s64")))
              .call(List.of(left, right), left.type());
      case FLOAT, DOUBLE ->
          BoundFunction.named(name())
              .host(
                  HostFunction.ofDoubles(
                      this == GREATEST ? Math::max : GreatestLeast::leastOfDoubles))
              .device(
                  DeviceFunction.instructions(
                      (ptx, in, out) -> emitFloating(ptx, in, out, kind == ValueKind.FLOAT)))
              .call(List.of(left, right), left.type());
      default -> compared(left, right, context);
    };
  }

  /** Unlike {@link Math#min}, returns NaN only if both values are NaN. */
  private static double leastOfDoubles(double left, double right) {
    return Double.compare(left, right) <= 0 ? left : right;
  }

  private void emit(PtxWriter ptx, List<PtxValue> operands, PtxValue result, String type) {
    ptx.write(
        "%s.%s %s, %s, %s",
        instruction,
        type,
        result.register(),
        operands.get(0).register(),
        operands.get(1).register());
  }

  /** The PTX instructions order zeros by sign and return NaN only if both operands are NaN. */
  private void emitFloating(
      PtxWriter ptx, List<PtxValue> operands, PtxValue result, boolean isFloat) {
    String type = isFloat ? "f32" : "f64";
    emit(ptx, operands, result, type);
    if (this == GREATEST) {
      String isNan = ptx.register(".pred");
      ptx.write(
          "setp.nan.%s %s, %s, %s",
          type, isNan, operands.get(0).register(), operands.get(1).register());
      ptx.write(
          "selp.%s %s, %s, %s, %s",
          type,
          result.register(),
          isFloat ? "0f7FC00000" : "0d7FF8000000000000",
          result.register(),
          isNan);
    }
  }

  /** The comparison comes first: it evaluates both sides and is not true if one is null. */
  private TypedExpression compared(
      TypedExpression first, TypedExpression second, BindingContext context) {
    List<TypedExpression> conditions = new ArrayList<>();
    conditions.add(comparison.of(second, first, context));
    if (second.nullable()) {
      conditions.add(new TypedExpression.IsNull(second));
    }
    List<TypedExpression> results = new ArrayList<>(Collections.nCopies(conditions.size(), second));
    results.add(first);
    return new TypedExpression.Case(conditions, results);
  }
}
