// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql;

import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.aggregate.Aggregate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/** Converts the parser's tree to aggregates. */
final class SqlAggregateConverter {
  private static final String LISTAGG = "LISTAGG";
  private static final Map<String, Function<Expression, Aggregate>> FUNCTIONS =
      new LinkedHashMap<>();

  static {
    FUNCTIONS.put("COUNT", Aggregate::count);
    FUNCTIONS.put("SUM", Aggregate::sum);
    FUNCTIONS.put("MIN", Aggregate::min);
    FUNCTIONS.put("MAX", Aggregate::max);
    FUNCTIONS.put("AVG", Aggregate::avg);
    FUNCTIONS.put("FIRST_VALUE", Aggregate::firstValue);
    FUNCTIONS.put("LAST_VALUE", Aggregate::lastValue);
    FUNCTIONS.put("STDDEV_POP", Aggregate::stddevPop);
    FUNCTIONS.put("STDDEV_SAMP", Aggregate::stddevSamp);
    FUNCTIONS.put("STDDEV", Aggregate::stddevSamp);
    FUNCTIONS.put("VAR_POP", Aggregate::varPop);
    FUNCTIONS.put("VAR_SAMP", Aggregate::varSamp);
    FUNCTIONS.put("VARIANCE", Aggregate::varSamp);
    FUNCTIONS.put(LISTAGG, Aggregate::listAgg);
  }

  private final SqlNodeConverter expressions;
  private final Consumer<Expression> conditionCheck;
  private final BiFunction<SqlParserPos, String, SqlTextException> failure;

  /**
   * @param expressions converts arguments and filters
   * @param conditionCheck throws an {@link ExpressionException} for an expression that is not
   *     BOOLEAN
   * @param failure makes the exception for a position and a message
   */
  SqlAggregateConverter(
      SqlNodeConverter expressions,
      Consumer<Expression> conditionCheck,
      BiFunction<SqlParserPos, String, SqlTextException> failure) {
    this.expressions = expressions;
    this.conditionCheck = conditionCheck;
    this.failure = failure;
  }

  /**
   * Converts an item of a select list to an aggregate.
   *
   * @throws SqlTextException if it is not an aggregate, with the position of what is wrong
   */
  SqlAggregate convert(SqlNode item) {
    if (item.getKind() == SqlKind.AS) {
      List<SqlNode> operands = SqlNodeConverter.operands(item);
      SqlAggregate aggregate = filtered(operands.get(0));
      String name = ((SqlIdentifier) operands.get(1)).getSimple();
      return new SqlAggregate(aggregate.aggregate().as(name), aggregate.inputs());
    }
    return filtered(item);
  }

  private SqlAggregate filtered(SqlNode node) {
    if (node.getKind() != SqlKind.FILTER) {
      return call(node);
    }
    List<SqlNode> operands = SqlNodeConverter.operands(node);
    SqlAggregate aggregate = call(operands.get(0));
    Expression condition = condition(operands.get(1));
    List<Expression> inputs = new ArrayList<>(aggregate.inputs());
    inputs.add(condition);
    return new SqlAggregate(aggregate.aggregate().filter(condition), inputs);
  }

  private Expression condition(SqlNode node) {
    Expression condition = expressions.convert(node);
    try {
      conditionCheck.accept(condition);
    } catch (ExpressionException e) {
      throw failure.apply(node.getParserPosition(), e.getMessage());
    }
    return condition;
  }

  private SqlAggregate call(SqlNode node) {
    Function<Expression, Aggregate> function =
        node instanceof SqlCall call ? FUNCTIONS.get(name(call)) : null;
    if (function == null) {
      throw failure.apply(
          node.getParserPosition(),
          "expected an aggregate function, one of "
              + String.join(", ", FUNCTIONS.keySet())
              + ", got '"
              + SqlNodeConverter.line(node)
              + "'");
    }
    return call((SqlCall) node, function);
  }

  private static String name(SqlCall call) {
    return call.getOperator().getName().toUpperCase(Locale.ROOT);
  }

  private SqlAggregate call(SqlCall call, Function<Expression, Aggregate> function) {
    if (name(call).equals(LISTAGG) && call.operandCount() == 2) {
      Expression expression = expressions.convert(call.operand(0));
      return aggregate(call, Aggregate.listAgg(expression, separator(call.operand(1))), expression);
    }
    if (call.operandCount() != 1) {
      throw failure.apply(
          call.getParserPosition(),
          "expected one argument in '" + SqlNodeConverter.line(call) + "'");
    }
    SqlNode argument = call.operand(0);
    if (name(call).equals("COUNT")
        && argument instanceof SqlIdentifier identifier
        && identifier.isStar()) {
      return new SqlAggregate(Aggregate.count(), List.of());
    }
    Expression expression = expressions.convert(argument);
    return aggregate(call, function.apply(expression), expression);
  }

  private static SqlAggregate aggregate(SqlCall call, Aggregate aggregate, Expression argument) {
    return new SqlAggregate(isDistinct(call) ? aggregate.distinct() : aggregate, List.of(argument));
  }

  private String separator(SqlNode node) {
    if (node instanceof SqlCharStringLiteral literal) {
      return literal.getValueAs(String.class);
    }
    throw failure.apply(
        node.getParserPosition(),
        "expected a string literal for the separator, got '" + SqlNodeConverter.line(node) + "'");
  }

  private static boolean isDistinct(SqlCall call) {
    SqlLiteral quantifier = call.getFunctionQuantifier();
    return quantifier != null && quantifier.toValue().equals("DISTINCT");
  }
}
