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
 * IN and NOT IN. A value is compared with each list element, except that {@link
 * ConstantLookup#MIN_CONSTANTS} or more constants are looked up in a table.
 *
 * <p>Floating-point numbers compare as in Flink, which puts two or more distinct constants into a
 * hash set: -0.0 is not found in such a set, even if the set contains 0, but equals 0 in a list of
 * one constant. A constant -0.0 is read as 0.0. NaN and infinities are never found.
 */
final class InList {
  private final boolean within;
  private final Comparison comparison;
  private final TypedExpression value;
  private final BindingContext context;
  // Grouped by the type in which they are compared with the value.
  private final Map<DataType, List<Literal>> constants = new HashMap<>();
  private final Map<DataType, DataType> comparedTypes = new HashMap<>();

  private InList(boolean within, TypedExpression value, BindingContext context) {
    this.within = within;
    this.comparison = within ? Comparison.EQUAL : Comparison.NOT_EQUAL;
    this.value = value;
    this.context = context;
  }

  /**
   * Tests whether {@code value} is in the list (IN) or is not (NOT IN).
   *
   * @param list the arguments of IN as written
   */
  static TypedExpression of(
      boolean within, TypedExpression value, List<TypedExpression> list, BindingContext context) {
    return new InList(within, value, context).of(values(value, list, context));
  }

  /** The list elements, cast to the type of the value if a STRING meets another type. */
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

  // Loops instead of streams: jobs bind a list once, and streams are slow until they are compiled.
  private static boolean comparesTexts(TypedExpression value, List<TypedExpression> list) {
    for (TypedExpression other : list) {
      if (ImplicitStringComparison.compares(value, other)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Casts as Calcite does when it expands IN into OR.
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
        terms.add(comparison.ofUncast(value, list.get(i), context));
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
   * The constants of the list in the types in which they are compared. Empty or null for other
   * elements.
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

  /** Whether Flink would put these floating-point constants into a set. */
  private static boolean isSet(List<Literal> group) {
    return group.get(0).type().isFloatingPoint()
        && group.stream().mapToDouble(InList::number).filter(Double::isFinite).distinct().count()
            > 1;
  }

  // Equality except for the sign of zero.
  private static double number(Literal constant) {
    return ((Number) constant.value()).doubleValue() + 0.0;
  }
}
