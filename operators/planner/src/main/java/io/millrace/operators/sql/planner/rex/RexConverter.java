// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.DataType;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.flink.annotation.Internal;

/**
 * Converts the planner's expressions over one input. A function is found by Flink's name in the
 * {@link FunctionRegistry}; what Flink has more or fewer functions for than the registry has is
 * converted here, and in {@link RexCasts} and {@link RexIntervals}.
 */
@Internal
public final class RexConverter {
  private static final int LONGEST_TEXT = 80;
  private static final Map<String, String> RENAMED =
      Map.of("TRANSLATE3", "TRANSLATE", "%", "MOD", "/INT", "/");

  // What takes bitmaps without looking at them.
  private static final Set<String> OF_ANY_BITMAP =
      Set.of("IS NULL", "IS NOT NULL", "COALESCE", "ROW", "ARRAY", "MAP", "ITEM", "CARDINALITY");

  private final InputColumns input;
  private final RexBuilder rexBuilder;
  private final UserFunctions userFunctions;
  private final ExpressionResolver resolver;

  /**
   * @param input the columns that expressions read
   * @param settings of the session, with the functions of the user
   * @param rexBuilder makes intermediate expressions
   */
  public RexConverter(
      InputColumns input,
      ExpressionSettings settings,
      RexBuilder rexBuilder,
      UserFunctions userFunctions) {
    this.input = input;
    this.rexBuilder = rexBuilder;
    this.userFunctions = userFunctions;
    this.resolver = new ExpressionResolver(input.schema(), settings.context().withBatch(0));
  }

  /**
   * The expression with the value and type of {@code node}.
   *
   * @throws UnsupportedNodeException if there is none: a function is missing, or has other types
   *     here than in Flink
   */
  public Expression convert(RexNode node) {
    if (node instanceof RexInputRef reference) {
      return input.column(reference);
    } else if (node instanceof RexFieldAccess access) {
      return field(access);
    } else if (node instanceof RexLiteral literal) {
      return RexLiterals.convert(literal);
    } else if (node instanceof RexCall call) {
      return checked(call, call(call));
    }
    throw new UnsupportedNodeException("expression " + text(node));
  }

  private Expression checked(RexCall call, Expression expression) {
    DataType expected = type(call);
    DataType type = typeOf(expression);
    if (type.equals(expected)) {
      return expression;
    } else if (!PlannerTypes.haveOneForm(type, expected)) {
      throw new UnsupportedNodeException(
          "type of " + text(call) + ": Flink has " + expected + ", Millrace " + type);
    }
    Expression named = new Expression.Cast(expression, expected, false);
    typeOf(named);
    return named;
  }

  /**
   * The type of an expression.
   *
   * @throws UnsupportedNodeException if the expression is invalid
   */
  DataType typeOf(Expression expression) {
    try {
      return resolver.resolve(expression).type();
    } catch (ExpressionException e) {
      throw new UnsupportedNodeException(e.getMessage().lines().findFirst().orElseThrow());
    }
  }

  /** The value of {@code node}, cast to {@code type}. */
  Expression cast(RexNode node, RelDataType type) {
    return convert(
        node.getType().equals(type) ? node : rexBuilder.makeAbstractCast(type, node, false));
  }

  /** The type of a column that holds the values of {@code node}. */
  static DataType type(RexNode node) {
    return PlannerTypes.columnType(text(node), node.getType());
  }

  /** The text of an expression, shortened, for messages. */
  static String text(RexNode node) {
    String text = node.toString();
    return text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT) + "...";
  }

  private Expression call(RexCall call) {
    List<RexNode> operands = call.getOperands();
    return switch (call.getKind()) {
      case SEARCH -> RexSearch.convert(call, rexBuilder, this);
      case CASE -> branches(operands);
      case CAST, SAFE_CAST, REINTERPRET -> RexCasts.convert(call, this);
      case PLUS, MINUS ->
          RexIntervals.isOfTime(call) ? RexIntervals.ofTime(call, this) : named(call);
      case EQUALS -> equality(true, convert(operands.get(0)), convert(operands.get(1)));
      case NOT_EQUALS -> equality(false, convert(operands.get(0)), convert(operands.get(1)));
      case MINUS_PREFIX -> Expressions.call("NEGATE", convert(operands.get(0)));
      case PLUS_PREFIX -> convert(operands.get(0));
      case EXTRACT ->
          Expressions.call(
              "EXTRACT", RexLiterals.symbol(operands.get(0)), convert(operands.get(1)));
      case FLOOR, CEIL -> rounded(call.getKind(), operands);
      case TRIM -> trimmed(operands);
      case DOT -> convert(operands.get(0)).field(RexLiterals.text(operands.get(1)));
      default -> function(call);
    };
  }

  /**
   * Whether two values are equal, or are not. The plan has the casts that Flink's planner adds;
   * other types that differ are compared as they are.
   */
  Expression equality(boolean isEqual, Expression left, Expression right) {
    DataType ofLeft = typeOf(left);
    DataType ofRight = typeOf(right);
    if (ofLeft.hasBitmap()) {
      throw bitmapsAreCompared();
    }
    boolean areNumbers =
        ofLeft.isNumeric() && ofRight.isNumeric() && !(ofLeft.isInteger() && ofRight.isInteger());
    boolean areMixedTimes =
        ofLeft.isTimestamp()
            && ofRight.isTimestamp()
            && ofLeft.withTimeZone() != ofRight.withTimeZone();
    if (ofLeft.equals(ofRight) || !(areNumbers || areMixedTimes)) {
      return Expressions.call(isEqual ? "=" : "<>", left, right);
    }
    return new Expression.Case(
        List.of(
            Expressions.call(
                "OR", Expressions.call("IS NULL", left), Expressions.call("IS NULL", right))),
        List.of(
            Expressions.nullOf(DataType.BOOL),
            Expressions.call(isEqual ? "IS NOT DISTINCT FROM" : "IS DISTINCT FROM", left, right)));
  }

  private Expression function(RexCall call) {
    if (UserFunctions.isCalled(call)) {
      return called(userFunctions.name(call), call);
    }
    return switch (call.getOperator().getName()) {
      // The attribute has no value until a later node asks for the processing time.
      case "PROCTIME" -> Expressions.nullOf(type(call));
      case "TRY_CAST" -> RexCasts.convert(call, this);
      case "JSON_VALUE" -> RexJson.value(call, this);
      case "JSON_QUERY" -> RexJson.query(call, this);
      case "IS_JSON" -> RexJson.is(call, this);
      case "JSON_OBJECT", "JSON_ARRAY" -> RexJson.constructed(call, this);
      case "JSON" ->
          throw new UnsupportedNodeException("JSON that is no value of JSON_OBJECT or JSON_ARRAY");
      default -> named(call);
    };
  }

  private Expression field(RexFieldAccess access) {
    RexNode row = access.getReferenceExpr();
    while (row instanceof RexFieldAccess outer) {
      row = outer.getReferenceExpr();
    }
    return row instanceof RexInputRef
        ? input.field(access)
        : convert(access.getReferenceExpr()).field(access.getField().getName());
  }

  private Expression branches(List<RexNode> operands) {
    List<Expression> conditions = new ArrayList<>();
    List<Expression> results = new ArrayList<>();
    int last = operands.size() - 1;
    for (int i = 0; i < last; i += 2) {
      conditions.add(convert(operands.get(i)));
      results.add(convert(operands.get(i + 1)));
    }
    results.add(convert(operands.get(last)));
    return new Expression.Case(conditions, results);
  }

  // To a whole number, or with a second operand to a unit of time.
  private Expression rounded(SqlKind kind, List<RexNode> operands) {
    Expression value = convert(operands.get(0));
    return operands.size() == 1
        ? Expressions.call(kind.name(), value)
        : Expressions.call(kind.name() + " TO", value, RexLiterals.symbol(operands.get(1)));
  }

  private Expression trimmed(List<RexNode> operands) {
    String where = RexLiterals.symbol(operands.get(0));
    return Expressions.call(
        where.equals("BOTH") ? "TRIM" : "TRIM " + where,
        convert(operands.get(2)),
        convert(operands.get(1)));
  }

  private Expression named(RexCall call) {
    checkIsOfRow(call);
    checkBitmaps(call);
    RexIntervals.check(call);
    return called(functionName(call), call);
  }

  private Expression called(String function, RexCall call) {
    return new Expression.Call(
        function, call.getOperands().stream().map(node -> argument(node, call)).toList());
  }

  // Columns do not tell the precision of a TIME: the branches of IF have that of its result.
  private Expression argument(RexNode node, RexCall call) {
    boolean isBranch =
        call.getOperator().getName().equals("IF")
            && node.getType().getSqlTypeName() == SqlTypeName.TIME;
    return isBranch
        ? RexCasts.ofPrecision(convert(node), node.getType(), call.getType())
        : argument(node);
  }

  // A batch counts rows that a filter drops.
  private static void checkIsOfRow(RexCall call) {
    String name = call.getOperator().getName();
    boolean hasSeed =
        (name.equals("RAND") && call.getOperands().size() == 1)
            || (name.equals("RAND_INTEGER") && call.getOperands().size() == 2);
    if (hasSeed) {
      throw new UnsupportedNodeException("function " + name + " of the rows before");
    }
  }

  // A unit of time and the like is text here.
  Expression argument(RexNode node) {
    return RexLiterals.isSymbol(node) ? Expressions.lit(RexLiterals.symbol(node)) : convert(node);
  }

  // Other functions may compare them.
  private static void checkBitmaps(RexCall call) {
    boolean hasBitmaps =
        call.getOperands().stream()
            .anyMatch(node -> !RexLiterals.isSymbol(node) && type(node).hasBitmap());
    if (!hasBitmaps) {
      return;
    }
    boolean hasBitmapKeys = type(call).isMap() && type(call.getOperands().get(0)).hasBitmap();
    if (hasBitmapKeys || !OF_ANY_BITMAP.contains(call.getOperator().getName())) {
      throw bitmapsAreCompared();
    }
  }

  private static UnsupportedNodeException bitmapsAreCompared() {
    return new UnsupportedNodeException("bitmaps are compared: equal ones may differ in bytes");
  }

  private static String functionName(RexCall call) {
    String operator = call.getOperator().getName();
    String name = RENAMED.getOrDefault(operator, operator);
    if (FunctionRegistry.builtIn().find(name).isEmpty()) {
      throw new UnsupportedNodeException("function " + name);
    }
    return name;
  }
}
