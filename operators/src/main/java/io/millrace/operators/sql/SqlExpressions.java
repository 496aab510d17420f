// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.calcite.avatica.util.Casing;
import org.apache.calcite.avatica.util.Quoting;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlUtil;
import org.apache.calcite.sql.parser.SqlParseException;
import org.apache.calcite.sql.parser.SqlParser;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.flink.annotation.Internal;
import org.apache.flink.sql.parser.impl.FlinkSqlParserImpl;
import org.apache.flink.sql.parser.validate.FlinkSqlConformance;

/** Parses conditions and select lists with Flink SQL's parser. */
@Internal
public final class SqlExpressions {
  private static final SqlParser.Config CONFIG =
      SqlParser.config()
          .withParserFactory(FlinkSqlParserImpl.FACTORY)
          .withConformance(FlinkSqlConformance.DEFAULT)
          .withQuoting(Quoting.BACK_TICK)
          .withUnquotedCasing(Casing.UNCHANGED)
          .withQuotedCasing(Casing.UNCHANGED);
  private static final String SELECT = "SELECT ";
  private static final ResolutionContext OF_BATCHES = ResolutionContext.DEFAULT.withBatch();
  private static final long PARSER_STACK_BYTES = 1L << 28;

  private final String option;
  private final int columnsBefore;
  private final ExpressionResolver resolver;
  private final SqlNodeConverter converter;

  private SqlExpressions(
      String option,
      int columnsBefore,
      Schema schema,
      Function<String, DataType> typeParser,
      ResolutionContext context) {
    this.option = option;
    this.columnsBefore = columnsBefore;
    this.resolver = new ExpressionResolver(schema, context);
    this.converter = new SqlNodeConverter(typeParser, resolver, this::at);
  }

  /**
   * Parses a condition.
   *
   * @param option the name of the option that has the text, for messages
   * @param typeParser converts the text of an SQL type to a data type
   * @throws SqlTextException if {@code text} has invalid syntax, names a column or function that
   *     does not exist, has operands of wrong types or is not BOOLEAN; the message has the position
   */
  public static Expression parseCondition(
      String option, String text, Schema schema, Function<String, DataType> typeParser) {
    return new SqlExpressions(option, 0, schema, typeParser, OF_BATCHES).condition(text);
  }

  /**
   * Parses a select list: expressions, each with an optional {@code AS name}, {@code *} for all
   * columns, and {@code row.*} for all fields of a ROW.
   *
   * @throws SqlTextException as {@link #parseCondition}, except that columns may have any type
   */
  public static List<Expression> parseSelectList(
      String option, String text, Schema schema, Function<String, DataType> typeParser) {
    return new SqlExpressions(option, SELECT.length(), schema, typeParser, OF_BATCHES)
        .selectList(text, schema);
  }

  /**
   * Parses a list of aggregates of the rows of a key, each with an optional {@code FILTER (WHERE
   * condition)} and {@code AS name}. Whether a function takes its argument's type is not checked.
   *
   * @throws SqlTextException as {@link #parseSelectList}, or if an item is no call of an aggregate
   *     function with one argument
   */
  public static List<SqlAggregate> parseAggregates(
      String option, String text, Schema schema, Function<String, DataType> typeParser) {
    return new SqlExpressions(
            option, SELECT.length(), schema, typeParser, ResolutionContext.DEFAULT)
        .aggregates(text);
  }

  /**
   * Parses in a thread with a large stack, because the parser recurses for each term of a chain.
   */
  private static SqlNode parse(Callable<SqlNode> parsing) throws SqlParseException {
    FutureTask<SqlNode> task = new FutureTask<>(parsing);
    new Thread(null, task, "sql-parser", PARSER_STACK_BYTES).start();
    try {
      return task.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SqlParseException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private Expression condition(String text) {
    SqlNode node;
    try {
      node = parse(() -> SqlParser.create(text, CONFIG).parseExpression());
    } catch (SqlParseException e) {
      throw unreadable(e);
    }
    Expression condition = converter.convert(node);
    try {
      resolver.resolveCondition(condition);
    } catch (ExpressionException e) {
      throw at(node.getParserPosition(), e.getMessage());
    }
    return condition;
  }

  private List<Expression> selectList(String text, Schema schema) {
    return items(text).stream().flatMap(item -> selectItem(item, schema).stream()).toList();
  }

  private List<SqlAggregate> aggregates(String text) {
    SqlAggregateConverter aggregates =
        new SqlAggregateConverter(converter, resolver::resolveCondition, this::at);
    return items(text).stream().map(aggregates::convert).toList();
  }

  private SqlNodeList items(String text) {
    try {
      return columns(parse(() -> SqlParser.create(SELECT + text, CONFIG).parseQuery()));
    } catch (SqlParseException e) {
      throw unreadable(e);
    }
  }

  // A query that is not a SELECT has a second clause: an order or another query.
  private SqlNodeList columns(SqlNode query) {
    List<SqlNode> clauses = SqlNodeConverter.operands(query);
    SqlNode columns = query instanceof SqlSelect select ? select.getSelectList() : clauses.get(0);
    clauses.stream()
        .filter(clause -> clause != null && clause != columns)
        .flatMap(clause -> clause instanceof SqlNodeList list ? list.stream() : Stream.of(clause))
        .findFirst()
        .ifPresent(
            clause -> {
              throw at(
                  clause.getParserPosition(),
                  "'"
                      + SqlNodeConverter.line(clause)
                      + "': a list of columns has no DISTINCT, hint, FROM, ORDER BY, LIMIT or UNION");
            });
    return (SqlNodeList) columns;
  }

  private List<Expression> selectItem(SqlNode item, Schema schema) {
    if (item instanceof SqlIdentifier identifier && identifier.isStar()) {
      return star(identifier, schema);
    }
    if (item.getKind() == SqlKind.AS) {
      List<SqlNode> operands = SqlNodeConverter.operands(item);
      String name = ((SqlIdentifier) operands.get(1)).getSimple();
      return List.of(column(operands.get(0)).as(name));
    }
    return List.of(column(item));
  }

  /** All columns, or of {@code row.*} all fields of the row. */
  private List<Expression> star(SqlIdentifier identifier, Schema schema) {
    if (identifier.names.size() == 1) {
      return schema.names().stream().map(Expressions::col).toList();
    }
    SqlIdentifier row = identifier.skipLast(1);
    Expression of = converter.convert(row);
    DataType type = resolver.resolve(of).type();
    if (type.id() != TypeId.STRUCT) {
      throw at(row.getParserPosition(), "expected a ROW before '.*', got " + type);
    }
    return type.fields().stream().map(field -> of.field(field.name())).toList();
  }

  private Expression column(SqlNode node) {
    if (SqlUtil.isNullLiteral(node, false)) {
      throw at(node.getParserPosition(), "NULL alone has no type; write CAST(NULL AS INT)");
    }
    return converter.convert(node);
  }

  private SqlTextException unreadable(SqlParseException e) {
    String message = e.getMessage().lines().findFirst().orElse("");
    if (e.getPos() == null) {
      return new SqlTextException(option + ": invalid syntax: " + message);
    }
    return at(e.getPos(), message.replaceAll(" at line \\d+, column \\d+\\.?", ""));
  }

  private SqlTextException at(SqlParserPos position, String message) {
    int column = position.getColumnNum() - (position.getLineNum() == 1 ? columnsBefore : 0);
    String line = position.getLineNum() > 1 ? "line " + position.getLineNum() + ", " : "";
    return new SqlTextException(option + ", " + line + "column " + column + ": " + message);
  }
}
