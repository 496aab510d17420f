// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.comparison;

import io.millrace.column.DataType;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.ConstantFolding;
import io.millrace.expression.resolve.ConstantLookup;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.Literal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * IN and NOT IN. A value is compared with each of the list, but for {@link
 * ConstantLookup#MIN_CONSTANTS} or more constants, which it is looked up in.
 *
 * <p>Floating-point numbers compare as in Flink, which puts two or more constants that are not the
 * same into a hash set: -0.0 is in no list of them, be there a 0 or not, but equals 0 in a list of
 * one. A constant that is -0.0 is read as 0.0, and NaN and infinities do not count.
 */
final class InList {
  private final boolean within;
  private final Comparison comparison;
  private final TypedExpression value;
  private final BindingContext context;
  // By the type in which they are compared with the value.
  private final Map<DataType, List<Literal>> constants = new HashMap<>();
  private final Map<DataType, DataType> comparedTypes = new HashMap<>();

  private InList(boolean within, TypedExpression value, BindingContext context) {
    this.within = within;
    this.comparison = within ? Comparison.EQUAL : Comparison.NOT_EQUAL;
    this.value = value;
    this.context = context;
  }

  /**
   * Whether {@code value} is in the list, or is not.
   *
   * @param list as the arguments of IN are written
   */
  static TypedExpression of(
      boolean within, TypedExpression value, List<TypedExpression> list, BindingContext context) {
    return new InList(within, value, context).of(values(value, list, context));
  }

  /** The list that a value is looked for in; of texts and others the value's type decides. */
  private static List<TypedExpression> values(
      TypedExpression value, List<TypedExpression> list, BindingContext context) {
    boolean comparesTexts = comparesTexts(value, list);
    DataType common = comparesTexts ? Coercion.commonType(list) : value.type();
    List<TypedExpression> values = new ArrayList<>(list.size());
    for (TypedExpression other : list) {
      values.add(
          comparesTexts
              ? ImplicitStringComparison.cast(
                  Coercion.cast(other, common, context), value.type(), context)
              : castToKind(other, value.type(), context));
    }
    return values;
  }

  // Loops instead of streams, which are slow until they are compiled: jobs bind a list once.
  private static boolean comparesTexts(TypedExpression value, List<TypedExpression> list) {
    for (TypedExpression other : list) {
      if (ImplicitStringComparison.compares(value, other)) {
        return true;
      }
    }
    return false;
  }

  /**
   * As Calcite does where it makes an OR of IN.
   *
   * @throws io.millrace.expression.error.ExpressionException if the types cannot be compared
   */
  private static TypedExpression castToKind(
      TypedExpression value, DataType type, BindingContext context) {
    boolean isSameKind =
        type.id() == value.type().id()
            || (type.isDecimal() && value.type().isDecimal())
            || (type.isTimestamp()
                && value.type().isTimestamp()
                && type.withTimeZone() == value.type().withTimeZone());
    if (isSameKind) {
      return value;
    }
    if (!Arguments.isNullLiteral(value)) {
      Coercion.common(value.type(), type);
    }
    return Coercion.cast(value, type, context);
  }

  private TypedExpression of(List<TypedExpression> list) {
    List<Optional<Literal>> literals = literals(list);
    for (Optional<Literal> literal : literals) {
      if (isConstant(literal)) {
        add(literal.orElseThrow());
      }
    }
    constants.values().removeIf(group -> !isLookedUp(group));
    Set<DataType> lookedUp = new HashSet<>();
    List<TypedExpression> terms = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      Optional<Literal> literal = literals.get(i);
      if (!isConstant(literal) || !constants.containsKey(literal.orElseThrow().type())) {
        terms.add(comparison.of(value, list.get(i), context));
      } else if (lookedUp.add(literal.orElseThrow().type())) {
        terms.add(lookUp(literal.orElseThrow().type()));
      }
    }
    if (terms.size() == 1) {
      return terms.get(0);
    }
    return within ? new TypedExpression.Or(terms) : new TypedExpression.And(terms);
  }

  /**
   * The constants of the list in the types in which they are compared; for all else nothing, or a
   * null.
   */
  private List<Optional<Literal>> literals(List<TypedExpression> list) {
    List<Optional<Literal>> literals = ConstantFolding.foldAll(list);
    List<TypedExpression> cast = new ArrayList<>(list.size());
    for (int i = 0; i < list.size(); i++) {
      TypedExpression other = list.get(i);
      boolean isConstant =
          isConstant(literals.get(i))
              && !Arguments.isNullLiteral(value)
              && !ImplicitStringComparison.compares(value, other);
      cast.add(
          isConstant
              ? Coercion.cast(literals.get(i).orElseThrow(), comparedType(other), context)
              : Arguments.nullOf(value.type()));
    }
    return ConstantFolding.foldAll(cast);
  }

  private static boolean isConstant(Optional<Literal> literal) {
    return literal.isPresent() && literal.orElseThrow().value() != null;
  }

  private DataType comparedType(TypedExpression other) {
    return comparedTypes.computeIfAbsent(
        other.type(), type -> Comparison.EQUAL.commonType(value, other));
  }

  private void add(Literal constant) {
    constants.computeIfAbsent(constant.type(), type -> new ArrayList<>()).add(constant);
  }

  private static boolean isLookedUp(List<Literal> group) {
    return group.size() >= ConstantLookup.MIN_CONSTANTS || (hasZero(group) && isSet(group));
  }

  private TypedExpression lookUp(DataType type) {
    List<Literal> group = constants.get(type);
    TypedExpression compared = Coercion.cast(value, type, context);
    return ConstantLookup.isIn(within, compared, group, !isSet(group));
  }

  private static boolean hasZero(List<Literal> group) {
    return group.get(0).type().isFloatingPoint()
        && group.stream().anyMatch(constant -> number(constant) == 0);
  }

  /** Whether Flink puts floating-point constants into a set. */
  private static boolean isSet(List<Literal> group) {
    return group.get(0).type().isFloatingPoint()
        && group.stream().mapToDouble(InList::number).filter(Double::isFinite).distinct().count()
            > 1;
  }

  // But for the sign of zero.
  private static double number(Literal constant) {
    return ((Number) constant.value()).doubleValue() + 0.0;
  }
}
