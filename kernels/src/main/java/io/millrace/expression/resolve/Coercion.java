// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.StructConstructor;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.List;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Implicit casts by Flink SQL's type coercion. */
@Internal
public final class Coercion {
  private static final int MAX_PRECISION = 38;

  private Coercion() {}

  /**
   * The decimal type that holds all values of an integer type; a decimal type is returned
   * unchanged.
   */
  public static DataType asDecimal(DataType type) {
    return switch (type.id()) {
      case INT8 -> DataType.decimal(3, 0);
      case INT16 -> DataType.decimal(5, 0);
      case INT32 -> DataType.decimal(10, 0);
      case INT64 -> DataType.decimal(19, 0);
      default -> type;
    };
  }

  /**
   * Casts an expression unless it already has the type. A null literal takes on the type directly.
   *
   * @throws ExpressionException if there is no such cast
   */
  public static TypedExpression cast(TypedExpression operand, DataType to, BindingContext context) {
    if (operand.type().equals(to)) {
      return operand;
    }
    if (Arguments.isNullLiteral(operand)) {
      return new TypedExpression.Literal(null, to);
    }
    if (operand instanceof StructConstructor row && takes(to, row)) {
      List<TypedExpression> values =
          IntStream.range(0, row.operands().size())
              .mapToObj(i -> cast(row.operands().get(i), to.fields().get(i).type(), context))
              .toList();
      return new StructConstructor(values, to);
    }
    if (!to.id().isScalar() && common(operand.type(), to).equals(to)) {
      return asNullable(operand, to);
    }
    return context
        .cast(operand.type(), to)
        .orElseThrow(
            () ->
                new ExpressionException(
                    "cannot cast " + operand + " from " + operand.type() + " to " + to))
        .bind(operand, to, context);
  }

  /** Whether a row can have other names, and fields that are nullable. */
  private static boolean takes(DataType type, StructConstructor row) {
    return type.id() == TypeId.STRUCT
        && type.fields().size() == row.operands().size()
        && IntStream.range(0, type.fields().size())
            .allMatch(i -> takes(type.fields().get(i), row.operands().get(i)));
  }

  private static boolean takes(Field field, TypedExpression value) {
    boolean isLike =
        (value instanceof StructConstructor row && takes(field.type(), row))
            || areAlike(value.type(), field.type());
    return isLike && (field.nullable() || !value.nullable());
  }

  /** The same nested value, with a type in which more fields are nullable. */
  private static TypedExpression asNullable(TypedExpression operand, DataType to) {
    return BoundFunction.named("AS")
        .parameters(to)
        .host(HostFunction.ofRow((operands, result, row) -> result.copy(row, operands[0], row)))
        .hostOnly("arrays and maps")
        .sql(operands -> operands.get(0))
        .call(List.of(operand), to);
  }

  /**
   * The narrowest type to which all the expressions can be cast implicitly, for example for a
   * comparison.
   *
   * @throws ExpressionException if there is none
   */
  public static DataType commonType(List<TypedExpression> expressions) {
    return fold(expressions, Coercion::common);
  }

  /**
   * The result type of functions such as COALESCE and GREATEST, as in Flink's {@code
   * LogicalTypeMerging}: the {@link #commonType}, except that a DECIMAL followed by a FLOAT gives
   * FLOAT, and timestamps with and without time zone give one with time zone.
   *
   * @throws ExpressionException if there is none
   */
  public static DataType commonArgumentType(List<TypedExpression> arguments) {
    return fold(arguments, Coercion::commonOfArguments);
  }

  private static DataType commonOfArguments(DataType left, DataType right) {
    if (left.isDecimal() && right.id() == TypeId.FLOAT32) {
      return right;
    }
    return ofZone(left.withTimeZone() || right.withTimeZone(), left, right);
  }

  /**
   * The common type of two types. If exactly one timestamp has a time zone, {@code withTimeZone}
   * decides.
   */
  private static DataType ofZone(boolean withTimeZone, DataType left, DataType right) {
    DataType common = common(left, right);
    return left.isTimestamp() && right.isTimestamp()
        ? DataType.timestamp(common.precision(), withTimeZone)
        : common;
  }

  /**
   * The type of arithmetic and of CASE, as in Calcite's {@code leastRestrictive}: the {@link
   * #commonType}, except that FLOAT and DOUBLE give the first of the two and a timestamp has the
   * time zone of the first.
   *
   * @throws ExpressionException if there is none
   */
  public static DataType leastRestrictiveType(List<TypedExpression> expressions) {
    return fold(
        expressions,
        (left, right) ->
            left.isFloatingPoint() && right.isFloatingPoint()
                ? left
                : ofZone(left.withTimeZone(), left, right));
  }

  private static DataType fold(
      List<TypedExpression> expressions, BinaryOperator<DataType> commonOfTwo) {
    return expressions.stream()
        .filter(expression -> !isUntypedNull(expression))
        .map(TypedExpression::type)
        .reduce(commonOfTwo)
        .orElse(DataType.BOOL);
  }

  /** SQL's NULL literal without a type is read as BOOLEAN. */
  private static boolean isUntypedNull(TypedExpression expression) {
    return Arguments.isNullLiteral(expression) && expression.type().id() == TypeId.BOOL;
  }

  /**
   * The narrowest common type of two types.
   *
   * @throws ExpressionException if there is none
   */
  public static DataType common(DataType left, DataType right) {
    if (left.equals(right)) {
      return left;
    }
    if (left.isNumeric() && right.isNumeric()) {
      return commonNumeric(left, right);
    }
    if (left.isTimestamp() && right.isTimestamp()) {
      boolean withTimeZone = left.withTimeZone() && right.withTimeZone();
      return DataType.timestamp(Math.max(left.precision(), right.precision()), withTimeZone);
    }
    if (areAlike(left, right)) {
      List<Field> fields =
          IntStream.range(0, left.fields().size())
              .mapToObj(i -> common(left.fields().get(i), right.fields().get(i)))
              .toList();
      return new DataType(left.id(), 0, 0, false, fields);
    }
    throw new ExpressionException(left + " and " + right + " have no common type");
  }

  /** Whether two nested types differ in the nullability of their fields alone. */
  private static boolean areAlike(DataType left, DataType right) {
    boolean isNested = left.id() == TypeId.LIST || left.id() == TypeId.STRUCT;
    return left.id() == right.id()
        && left.fields().size() == right.fields().size()
        && (isNested ? areAlike(left.fields(), right.fields()) : left.equals(right));
  }

  private static boolean areAlike(List<Field> left, List<Field> right) {
    return IntStream.range(0, left.size())
        .allMatch(
            i ->
                left.get(i).name().equals(right.get(i).name())
                    && areAlike(left.get(i).type(), right.get(i).type()));
  }

  private static Field common(Field left, Field right) {
    return new Field(
        left.name(), common(left.type(), right.type()), left.nullable() || right.nullable());
  }

  /**
   * A CASE whose results are cast to their least restrictive type.
   *
   * @param results one result per condition, followed by the ELSE result
   * @throws ExpressionException if the results have no common type
   */
  public static TypedExpression.Case caseOf(
      List<TypedExpression> conditions, List<TypedExpression> results, BindingContext context) {
    DataType type = leastRestrictiveType(results);
    List<TypedExpression> cast =
        results.stream().map(result -> cast(result, type, context)).toList();
    return ConstantCase.of(new TypedExpression.Case(conditions, folded(cast)));
  }

  /** Folds casts of constants if there are many, so that lookups find constants. */
  private static List<TypedExpression> folded(List<TypedExpression> results) {
    if (results.size() <= ConstantLookup.MIN_CONSTANTS) {
      return results;
    }
    List<Optional<TypedExpression.Literal>> literals = ConstantFolding.foldAll(results);
    return IntStream.range(0, results.size())
        .mapToObj(
            i -> literals.get(i).<TypedExpression>map(Function.identity()).orElse(results.get(i)))
        .toList();
  }

  private static DataType commonNumeric(DataType left, DataType right) {
    if (left.isFloatingPoint() || right.isFloatingPoint()) {
      boolean isDouble =
          Stream.of(left, right).anyMatch(type -> type.id() == TypeId.FLOAT64 || type.isDecimal());
      return isDouble ? DataType.FLOAT64 : DataType.FLOAT32;
    }
    if (left.isInteger() && right.isInteger()) {
      return left.id().byteWidth() >= right.id().byteWidth() ? left : right;
    }
    DataType a = asDecimal(left);
    DataType b = asDecimal(right);
    int whole = Math.max(a.precision() - a.scale(), b.precision() - b.scale());
    int scale = Math.min(Math.max(a.scale(), b.scale()), MAX_PRECISION - whole);
    return DataType.decimal(whole + scale, scale);
  }
}
