// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql;

import io.millrace.column.DataType;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionRegistry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlIntervalLiteral;
import org.apache.calcite.sql.SqlIntervalQualifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.fun.SqlBetweenOperator;
import org.apache.calcite.sql.fun.SqlCase;
import org.apache.calcite.sql.parser.SqlParserPos;

/** Converts the parser's tree to expressions. */
final class SqlNodeConverter {
  private static final Pattern LIMITED_TEXT =
      Pattern.compile("(VARCHAR|CHAR)\\s*\\((\\d+)\\)", Pattern.CASE_INSENSITIVE);
  private static final Pattern LIMITED_BYTES =
      Pattern.compile("BINARY|(VAR)?BINARY\\s*\\(.*", Pattern.CASE_INSENSITIVE);
  private static final Pattern TIME =
      Pattern.compile("TIME(\\s*\\(\\d+\\))?", Pattern.CASE_INSENSITIVE);
  private static final Set<String> CHAINED = Set.of("AND", "OR", "||", "+");
  private static final Map<String, String> FUNCTION_OF_OPERATOR =
      Map.of("%", "MOD", "!=", "<>", "TRANSLATE3", "TRANSLATE");
  private static final Set<String> FUNCTIONS_WITHOUT_PARENTHESES =
      Set.of("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP");
  private static final Set<SqlKind> NOT_OF_COLUMNS =
      EnumSet.of(
          SqlKind.OVER,
          SqlKind.FILTER,
          SqlKind.WITHIN_GROUP,
          SqlKind.WITHIN_DISTINCT,
          SqlKind.RESPECT_NULLS,
          SqlKind.IGNORE_NULLS,
          SqlKind.MULTISET_VALUE_CONSTRUCTOR,
          SqlKind.NEW_SPECIFICATION,
          SqlKind.ARGUMENT_ASSIGNMENT,
          SqlKind.LITERAL_CHAIN);

  private final Function<String, DataType> typeParser;
  private final ExpressionResolver resolver;
  private final BiFunction<SqlParserPos, String, SqlTextException> failure;

  /**
   * @param typeParser converts the text of an SQL type to a data type
   * @param resolver checks each expression after its operands, so that an {@link
   *     ExpressionException} belongs to the innermost invalid expression
   * @param failure makes the exception for a position and a message
   */
  SqlNodeConverter(
      Function<String, DataType> typeParser,
      ExpressionResolver resolver,
      BiFunction<SqlParserPos, String, SqlTextException> failure) {
    this.typeParser = typeParser;
    this.resolver = resolver;
    this.failure = failure;
  }

  static List<SqlNode> operands(SqlNode call) {
    return ((SqlCall) call).getOperandList();
  }

  /**
   * Converts {@code node} to an expression.
   *
   * @throws SqlTextException with the position of the innermost node that cannot be converted: it
   *     has no value per row, such as a query, or the resolver refuses it
   */
  Expression convert(SqlNode node) {
    try {
      return resolve(convertUnchecked(node), node);
    } catch (ExpressionException e) {
      throw failure.apply(node.getParserPosition(), e.getMessage());
    }
  }

  private Expression resolve(Expression expression, SqlNode node) {
    try {
      resolver.resolve(expression);
      return expression;
    } catch (ExpressionException e) {
      throw failure.apply(node.getParserPosition(), e.getMessage());
    }
  }

  private Expression convertUnchecked(SqlNode node) {
    if (node instanceof SqlIdentifier identifier && !identifier.isStar()) {
      return column(identifier);
    } else if (node instanceof SqlIntervalQualifier qualifier) {
      return Expressions.lit(qualifier.toString());
    } else if (node instanceof SqlDataTypeSpec type) {
      return Expressions.lit(returnedType(type));
    } else if (node instanceof SqlLiteral literal) {
      return SqlLiterals.convert(literal);
    } else if (node instanceof SqlCase branches) {
      return branches(branches);
    } else if (node instanceof SqlCall call && isExpression(call.getKind())) {
      return call(call);
    }
    throw new ExpressionException(
        "expected an expression of the columns of a row, got '" + line(node) + "'");
  }

  static String line(SqlNode node) {
    return node.toString().replaceAll("\\s+", " ");
  }

  private static Expression column(SqlIdentifier identifier) {
    String name = identifier.names.get(0);
    boolean isFunction =
        identifier.isSimple()
            && FUNCTIONS_WITHOUT_PARENTHESES.contains(name.toUpperCase(Locale.ROOT));
    return isFunction && !identifier.isComponentQuoted(0)
        ? Expressions.call(name)
        : path(identifier.names);
  }

  /** The field that the names lead to from the column with the first name. */
  static Expression path(List<String> names) {
    Expression column = Expressions.col(names.get(0));
    for (String field : names.subList(1, names.size())) {
      column = column.field(field);
    }
    return column;
  }

  private static boolean isExpression(SqlKind kind) {
    return !kind.belongsTo(SqlKind.QUERY)
        && !kind.belongsTo(SqlKind.AGGREGATE)
        && !NOT_OF_COLUMNS.contains(kind);
  }

  private Expression branches(SqlCase branches) {
    List<Expression> conditions = all(branches.getWhenOperands());
    List<Expression> results = new ArrayList<>(all(branches.getThenOperands()));
    results.add(convert(branches.getElseOperand()));
    return new Expression.Case(conditions, results);
  }

  private List<Expression> all(SqlNodeList nodes) {
    return nodes.stream().map(this::convert).toList();
  }

  private Expression call(SqlCall call) {
    List<SqlNode> operands = call.getOperandList();
    if (isChained(call, call.getOperator().getName())) {
      return chain(call);
    }
    return switch (call.getKind()) {
      case DOT -> convert(operands.get(0)).field(((SqlIdentifier) operands.get(1)).getSimple());
      case CAST, SAFE_CAST -> cast(call);
      case BETWEEN -> between(call);
      case IN, NOT_IN -> in(call);
      case MINUS_PREFIX -> negate(operands.get(0));
      case PLUS_PREFIX -> convert(operands.get(0));
      case PLUS, MINUS -> plusOrMinus(call);
      case TRIM -> trim(operands);
      case FLOOR, CEIL -> round(call);
      default -> function(functionName(call), operands);
    };
  }

  private static String functionName(SqlCall call) {
    if (call.getFunctionQuantifier() != null) {
      throw new ExpressionException(
          call.getFunctionQuantifier() + " is allowed in aggregate functions only");
    }
    boolean isQualified =
        call.getOperator() instanceof SqlFunction function
            && function.getSqlIdentifier() != null
            && !function.getSqlIdentifier().isSimple();
    if (isQualified) {
      throw new ExpressionException("'" + line(call) + "' calls a function of a catalog");
    }
    return call.getOperator().getName().replace("$", "");
  }

  private Expression function(String operator, List<SqlNode> operands) {
    String name = FUNCTION_OF_OPERATOR.getOrDefault(operator, operator);
    FunctionRegistry.builtIn().function(name);
    return new Expression.Call(name, operands.stream().map(this::convert).toList());
  }

  /**
   * Converts a chain of one operator, which the parser nests to the left, to a single call with all
   * operands. So the depth of the recursion and of the result does not depend on the length of the
   * chain.
   *
   * @throws SqlTextException with the position of the first operator that the resolver refuses
   */
  private Expression chain(SqlCall last) {
    Deque<SqlCall> calls = new ArrayDeque<>();
    SqlNode left = last;
    while (isChained(left, last.getOperator().getName())) {
      calls.push((SqlCall) left);
      left = ((SqlCall) left).operand(0);
    }
    List<Expression> operands = new ArrayList<>();
    operands.add(convert(left));
    calls.forEach(call -> operands.add(convert(call.operand(1))));
    String operator = last.getOperator().getName();
    try {
      Expression all = new Expression.Call(operator, operands);
      resolver.resolve(all);
      return all;
    } catch (ExpressionException e) {
      Expression chain = operands.get(0);
      for (Expression operand : operands.subList(1, operands.size())) {
        SqlCall call = calls.pop();
        chain = new Expression.Call(operator, List.of(chain, operand));
        resolve(chain, call);
      }
      throw e;
    }
  }

  // The sum of a time and an interval is a call of TIMESTAMPADD.
  private static boolean isChained(SqlNode node, String operator) {
    return node instanceof SqlCall call
        && CHAINED.contains(operator)
        && call.getOperator().getName().equals(operator)
        && call.operandCount() == 2
        && call.getOperandList().stream().noneMatch(SqlIntervalLiteral.class::isInstance);
  }

  private Expression between(SqlCall call) {
    SqlBetweenOperator operator = (SqlBetweenOperator) call.getOperator();
    if (operator.flag == SqlBetweenOperator.Flag.SYMMETRIC) {
      throw new ExpressionException("BETWEEN SYMMETRIC is not supported");
    }
    return function(operator.isNegated() ? "NOT BETWEEN" : "BETWEEN", call.getOperandList());
  }

  private Expression cast(SqlCall call) {
    boolean orNull = !call.getOperator().getName().equals("CAST");
    Expression operand = convert(call.operand(0));
    if (!(call.operand(1) instanceof SqlDataTypeSpec specification)) {
      throw new ExpressionException(
          "expected a column type, got 'INTERVAL " + call.operand(1) + "'");
    }
    String name = specification.toString().replace("`", "");
    String type = name.equalsIgnoreCase("CHAR") ? "CHAR(1)" : name;
    if (LIMITED_BYTES.matcher(type).matches()) {
      throw new ExpressionException(
          "a cast to " + type + ", which limits the length, is not supported; cast to BYTES");
    }
    Matcher limited = LIMITED_TEXT.matcher(type);
    if (limited.matches()) {
      String function = "CAST_" + limited.group(1).toUpperCase(Locale.ROOT);
      Expression text = new Expression.Cast(operand, DataType.STRING, orNull);
      return Expressions.call(function, text, Integer.parseInt(limited.group(2)));
    }
    Expression cast = new Expression.Cast(operand, parseType(type), orNull);
    return TIME.matcher(type).matches() ? ofPrecision(cast, type) : cast;
  }

  // A TIME column has milliseconds, but TIME without a precision has seconds in SQL.
  private static Expression ofPrecision(Expression time, String type) {
    String digits = type.replaceAll("\\D", "");
    return switch (digits) {
      case "", "0", "1", "2" ->
          Expressions.call("CAST_TIME", time, digits.isEmpty() ? 0 : Integer.parseInt(digits));
      default -> time;
    };
  }

  // Of RETURNING, which does not limit the length of a text.
  private String returnedType(SqlDataTypeSpec specification) {
    String type = specification.toString().replace("`", "");
    return LIMITED_TEXT.matcher(type).matches() ? type : parseType(type).toString();
  }

  private DataType parseType(String type) {
    try {
      return typeParser.apply(type);
    } catch (SqlTextException e) {
      throw new ExpressionException(e.getMessage());
    }
  }

  private Expression in(SqlCall call) {
    if (!(call.operand(1) instanceof SqlNodeList values)) {
      throw new ExpressionException(
          "expected a list of values, got '" + line(call.operand(1)) + "'");
    }
    List<Expression> arguments = new ArrayList<>();
    arguments.add(convert(call.operand(0)));
    arguments.addAll(all(values));
    return new Expression.Call(call.getKind() == SqlKind.IN ? "IN" : "NOT IN", arguments);
  }

  private Expression negate(SqlNode operand) {
    Expression expression = convert(operand);
    return expression instanceof Expression.Literal literal
        ? SqlLiterals.negate(literal)
        : expression.negate();
  }

  private Expression plusOrMinus(SqlCall call) {
    boolean plus = call.getKind() == SqlKind.PLUS;
    SqlNode right = call.operand(1);
    if (right instanceof SqlIntervalLiteral interval) {
      return later(convert(call.operand(0)), interval, !plus);
    }
    if (plus && call.operand(0) instanceof SqlIntervalLiteral interval) {
      return later(convert(right), interval, false);
    }
    return function(plus ? "+" : "-", call.getOperandList());
  }

  private Expression later(Expression time, SqlIntervalLiteral interval, boolean subtract) {
    return SqlLiterals.add(time, resolver.resolve(time).type(), interval, subtract);
  }

  // FLOOR and CEIL round to a whole number, or with TO to a unit of time.
  private Expression round(SqlCall call) {
    String name = call.getKind() == SqlKind.FLOOR ? "FLOOR" : "CEIL";
    return function(call.operandCount() == 2 ? name + " TO" : name, call.getOperandList());
  }

  private Expression trim(List<SqlNode> operands) {
    String where = ((SqlLiteral) operands.get(0)).toValue();
    return Expressions.call(
        "BOTH".equals(where) ? "TRIM" : "TRIM " + where,
        convert(operands.get(2)),
        convert(operands.get(1)));
  }
}
