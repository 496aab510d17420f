package io.millrace.jobs;

import io.millrace.column.DataType;
import io.millrace.expression.Expression;
import io.millrace.expression.ExpressionException;
import io.millrace.expression.Expressions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
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

/** Makes expressions of the parser's tree. */
final class SqlNodeConverter {
  private static final Pattern LIMITED_TEXT =
      Pattern.compile("(VARCHAR|CHAR)\\s*\\((\\d+)\\)", Pattern.CASE_INSENSITIVE);
  private static final Pattern LIMITED_BYTES =
      Pattern.compile("BINARY|(VAR)?BINARY\\s*\\(.*", Pattern.CASE_INSENSITIVE);
  private static final Map<String, String> FUNCTION_OF_OPERATOR =
      Map.of("%", "MOD", "!=", "<>", "TRANSLATE3", "TRANSLATE");

  private final Function<String, DataType> typeParser;
  private final Consumer<Expression> check;
  private final BiFunction<SqlParserPos, String, UsageException> failure;

  /**
   * @param typeParser the data type of an SQL type's text
   * @param check throws an {@link ExpressionException} for an expression that cannot be and whose
   *     parts can
   * @param failure what is thrown for a position and a message
   */
  SqlNodeConverter(
      Function<String, DataType> typeParser,
      Consumer<Expression> check,
      BiFunction<SqlParserPos, String, UsageException> failure) {
    this.typeParser = typeParser;
    this.check = check;
    this.failure = failure;
  }

  static List<SqlNode> operands(SqlNode call) {
    return ((SqlCall) call).getOperandList();
  }

  /**
   * The expression that {@code node} means.
   *
   * @throws UsageException at the innermost node that cannot be: it is something that rows have no
   *     value of, such as a query, or the check refuses it
   */
  Expression convert(SqlNode node) {
    try {
      Expression expression = convertUnchecked(node);
      check.accept(expression);
      return expression;
    } catch (ExpressionException e) {
      throw failure.apply(node.getParserPosition(), e.getMessage());
    }
  }

  private Expression convertUnchecked(SqlNode node) {
    if (node instanceof SqlIdentifier identifier && !identifier.isStar()) {
      return Expressions.col(String.join(".", identifier.names));
    } else if (node instanceof SqlIntervalQualifier qualifier) {
      return Expressions.lit(qualifier.toString());
    } else if (node instanceof SqlLiteral literal) {
      return SqlLiterals.convert(literal);
    } else if (node instanceof SqlCase branches) {
      return branches(branches);
    } else if (node instanceof SqlCall call && isExpression(call.getKind())) {
      return call(call);
    }
    throw new ExpressionException("'" + line(node) + "' is no expression of a row's columns");
  }

  private static String line(SqlNode node) {
    return node.toString().replaceAll("\\s+", " ");
  }

  private static boolean isExpression(SqlKind kind) {
    return !kind.belongsTo(SqlKind.QUERY)
        && !kind.belongsTo(SqlKind.AGGREGATE)
        && kind != SqlKind.OVER;
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
    return switch (call.getKind()) {
      case CAST, SAFE_CAST -> cast(call);
      case BETWEEN -> between(call);
      case IN, NOT_IN -> in(call);
      case MINUS_PREFIX -> negate(operands.get(0));
      case PLUS_PREFIX -> convert(operands.get(0));
      case PLUS, MINUS -> plusOrMinus(call);
      case TRIM -> trim(operands);
      case FLOOR, CEIL -> round(call);
      default -> function(call.getOperator().getName(), operands);
    };
  }

  private Expression function(String operator, List<SqlNode> operands) {
    String name = FUNCTION_OF_OPERATOR.getOrDefault(operator, operator);
    return new Expression.Call(name, operands.stream().map(this::convert).toList());
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
          "'INTERVAL " + call.operand(1) + "' is no type that a column can have");
    }
    String name = specification.toString().replace("`", "");
    String type = name.equalsIgnoreCase("CHAR") ? "CHAR(1)" : name;
    if (LIMITED_BYTES.matcher(type).matches()) {
      throw new ExpressionException(
          "a cast to " + type + ", which limits bytes, is not supported; one to BYTES is");
    }
    Matcher limited = LIMITED_TEXT.matcher(type);
    if (limited.matches()) {
      String function = "CAST_" + limited.group(1).toUpperCase(Locale.ROOT);
      Expression text = new Expression.Cast(operand, DataType.STRING, orNull);
      return Expressions.call(function, text, Integer.parseInt(limited.group(2)));
    }
    return new Expression.Cast(operand, parseType(type), orNull);
  }

  private DataType parseType(String type) {
    try {
      return typeParser.apply(type);
    } catch (UsageException e) {
      throw new ExpressionException(e.getMessage());
    }
  }

  private Expression in(SqlCall call) {
    if (!(call.operand(1) instanceof SqlNodeList values)) {
      throw new ExpressionException("'" + line(call.operand(1)) + "' is no list of values");
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
      return SqlLiterals.add(convert(call.operand(0)), interval, !plus);
    }
    if (plus && call.operand(0) instanceof SqlIntervalLiteral interval) {
      return SqlLiterals.add(convert(right), interval, false);
    }
    return function(plus ? "+" : "-", call.getOperandList());
  }

  // To a whole number, or TO a unit of time.
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
