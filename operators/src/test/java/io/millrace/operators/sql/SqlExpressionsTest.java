// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

class SqlExpressionsTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("id", DataType.INT64),
          new Field("price", DataType.INT32, false),
          Field.of("name", DataType.STRING),
          Field.of("amount", DataType.decimal(10, 2)),
          Field.of("ts", DataType.timestamp(3)),
          Field.of("d", DataType.DATE),
          Field.of("r", DataType.struct(Field.of("x", DataType.INT32))));

  @ParameterizedTest
  @CsvFileSource(resources = "sql-expressions.csv", delimiter = ';', quoteCharacter = '"')
  void sqlMeansTheExpressionThatItSays(String sql, String expression) {
    assertThat(parse(sql)).hasSize(1).first().hasToString(expression);
  }

  @Test
  void listsHaveNamesAndStars() {
    assertThat(parse("name AS label, *, price * 2 twice"))
        .extracting(Expression::toString)
        .containsExactly(
            "`name` AS `label`",
            "`id`",
            "`price`",
            "`name`",
            "`amount`",
            "`ts`",
            "`d`",
            "`r`",
            "(`price` * 2) AS `twice`");
    assertThat(parse("r.*, id"))
        .extracting(Expression::toString)
        .containsExactly("`r`.`x`", "`id`");
  }

  @ParameterizedTest
  @CsvFileSource(resources = "sql-mistakes.csv", delimiter = ';', quoteCharacter = '"')
  void errorsAreOneLineWithTheirPosition(String sql, String message) {
    assertThatThrownBy(() -> parse(sql))
        .isInstanceOf(SqlTextException.class)
        .hasMessageStartingWith(message)
        .hasMessageNotContaining("\n");
  }

  @Test
  void aConditionIsBoolean() {
    assertThat(SqlExpressions.parseCondition("where", "price > 1", SCHEMA, SchemaParser::parseType))
        .hasToString("(`price` > 1)");
    assertThatThrownBy(
            () ->
                SqlExpressions.parseCondition(
                    "where", "price +\n prise", SCHEMA, SchemaParser::parseType))
        .hasMessageStartingWith("where, line 2, column 2: there is no column 'prise'");
    assertThatThrownBy(
            () -> SqlExpressions.parseCondition("where", "price", SCHEMA, SchemaParser::parseType))
        .hasMessage("where, column 1: a condition is BOOLEAN, but `price` is INT");
  }

  /** On the stack that a thread has unless told. */
  @ParameterizedTest
  @CsvSource({
    "price = 1, OR",
    "price = id, OR",
    "price > 1, AND",
    "name = '' || name, ||",
    "price < 1 + id, +"
  })
  void chainsOfManyTermsAreRead(String term, String operator) throws Exception {
    String last = term.substring(term.lastIndexOf(' ') + 1);
    boolean isJunction = operator.equals("OR") || operator.equals("AND");
    String text = term + (" " + operator + " " + (isJunction ? term : last)).repeat(10_000);
    FutureTask<Expression> task =
        new FutureTask<>(
            () -> SqlExpressions.parseCondition("where", text, SCHEMA, SchemaParser::parseType));
    new Thread(null, task, "1 MiB of stack", 1 << 20).start();
    assertThat(task.get().toString()).hasSizeGreaterThan(1000);
  }

  @Test
  void aMistakeInAChainIsAtItsOperator() {
    assertThatThrownBy(
            () ->
                SqlExpressions.parseCondition(
                    "where",
                    "price = 1 OR id = 2 OR name OR id = 3",
                    SCHEMA,
                    SchemaParser::parseType))
        .hasMessageStartingWith("where, column 1: ")
        .hasMessageContaining("`name`");
  }

  private static List<Expression> parse(String sql) {
    return SqlExpressions.parseSelectList("select", sql, SCHEMA, SchemaParser::parseType);
  }
}
