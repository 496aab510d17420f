// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.type.SqlTypeFamily;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.sql.type.SqlTypeUtil;
import org.apache.calcite.util.NlsString;
import org.apache.calcite.util.RangeSets;
import org.apache.calcite.util.Sarg;

/**
 * SEARCH: the planner's form of comparisons of one value with constants, such as IN and BETWEEN,
 * with the results of Flink's {@code SearchOperatorGen}. In what Calcite expands it to, the value
 * would be computed for each comparison, and texts would lose their trailing blanks.
 */
final class RexSearch {
  private final Expression value;
  private final RelDataType type;
  private final RexBuilder rexBuilder;
  private final RexConverter converter;

  private RexSearch(
      Expression value, RelDataType type, RexBuilder rexBuilder, RexConverter converter) {
    this.value = value;
    this.type = type;
    this.rexBuilder = rexBuilder;
    this.converter = converter;
  }

  /**
   * The expression of a SEARCH.
   *
   * @throws UnsupportedNodeException if there is none, or Flink compares in a way of its own
   */
  static Expression convert(RexCall call, RexBuilder rexBuilder, RexConverter converter) {
    RexLiteral constants = (RexLiteral) call.getOperands().get(1);
    Sarg<?> sarg = constants.getValueAs(Sarg.class);
    if (sarg.isAll() || sarg.isNone()) {
      return converter.convert(RexUtil.expandSearch(rexBuilder, null, call));
    }
    Expression value = converter.convert(call.getOperands().get(0));
    return new RexSearch(value, constants.getType(), rexBuilder, converter).search(sarg);
  }

  private <C extends Comparable<C>> Expression search(Sarg<C> sarg) {
    Expression found;
    if (sarg.isPoints() || sarg.isComplementedPoints()) {
      Constants<C> constants = new Constants<>();
      RangeSets.forEach(sarg.isPoints() ? sarg.rangeSet : sarg.rangeSet.complement(), constants);
      found = list(sarg.isPoints() ? "IN" : "NOT IN", constants);
    } else {
      Comparisons<C> comparisons = new Comparisons<>();
      RangeSets.forEach(sarg.rangeSet, comparisons);
      found = anyOf(comparisons.terms);
    }
    return switch (sarg.nullAs) {
      case TRUE -> anyOf(List.of(Expressions.call("IS NULL", value), found));
      case FALSE -> Expressions.call("AND", Expressions.call("IS NOT NULL", value), found);
      case UNKNOWN -> found;
    };
  }

  // Flink looks up the constants in a hash set, also a single one.
  private Expression list(String function, Constants<?> constants) {
    if (type.getFamily() == SqlTypeFamily.BINARY) {
      throw new UnsupportedNodeException("a list of BYTES, whose elements Flink never finds");
    }
    if (SqlTypeUtil.isApproximateNumeric(type)
        && constants.values.size() == 1
        && ((BigDecimal) constants.values.get(0)).signum() == 0) {
      throw new UnsupportedNodeException("a list of 0 alone, in which Flink does not find -0.0");
    }
    List<Object> arguments = new ArrayList<>(List.of(value));
    constants.values.forEach(constant -> arguments.add(literal(constant)));
    return Expressions.call(function, arguments.toArray());
  }

  private Expression literal(Comparable<?> constant) {
    RexNode literal =
        constant instanceof NlsString text && type.getSqlTypeName() == SqlTypeName.CHAR
            ? rexBuilder.makeCharLiteral(text)
            : rexBuilder.makeLiteral(constant, type, true);
    return converter.convert(literal);
  }

  private Expression compared(String function, Comparable<?> constant) {
    return Expressions.call(function, value, literal(constant));
  }

  private static Expression anyOf(List<Expression> terms) {
    return terms.size() == 1 ? terms.get(0) : Expressions.call("OR", terms.toArray());
  }

  /** The points of a set that has nothing else. */
  private static final class Constants<C extends Comparable<C>> extends Ranges<C> {
    private final List<C> values = new ArrayList<>();

    @Override
    public void singleton(C value) {
      values.add(value);
    }

    @Override
    void range(String lower, C from, String upper, C to) {
      throw new IllegalStateException("expected a point, got a range");
    }
  }

  /** A condition for each range. */
  private final class Comparisons<C extends Comparable<C>> extends Ranges<C> {
    private final List<Expression> terms = new ArrayList<>();

    @Override
    public void singleton(C constant) {
      terms.add(converter.equality(true, value, literal(constant)));
    }

    @Override
    void range(String lower, C from, String upper, C to) {
      if (from == null) {
        terms.add(compared(upper, to));
      } else if (to == null) {
        terms.add(compared(lower, from));
      } else {
        terms.add(Expressions.call("AND", compared(lower, from), compared(upper, to)));
      }
    }
  }

  /** All kinds of ranges as one. */
  private abstract static class Ranges<C extends Comparable<C>> implements RangeSets.Consumer<C> {
    /**
     * @param lower the comparison with {@code from}, which is null if there is no lower bound
     * @param upper the comparison with {@code to}, which is null if there is no upper bound
     */
    abstract void range(String lower, C from, String upper, C to);

    @Override
    public void all() {
      throw new IllegalStateException("expected a bound");
    }

    @Override
    public void atLeast(C from) {
      range(">=", from, "", null);
    }

    @Override
    public void atMost(C to) {
      range("", null, "<=", to);
    }

    @Override
    public void greaterThan(C from) {
      range(">", from, "", null);
    }

    @Override
    public void lessThan(C to) {
      range("", null, "<", to);
    }

    @Override
    public void closed(C from, C to) {
      range(">=", from, "<=", to);
    }

    @Override
    public void closedOpen(C from, C to) {
      range(">=", from, "<", to);
    }

    @Override
    public void openClosed(C from, C to) {
      range(">", from, "<=", to);
    }

    @Override
    public void open(C from, C to) {
      range(">", from, "<", to);
    }
  }
}
