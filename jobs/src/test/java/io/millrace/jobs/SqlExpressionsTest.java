package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlExpressionsTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("id", DataType.INT64),
          new Field("price", DataType.INT32, false),
          Field.of("name", DataType.STRING),
          Field.of("amount", DataType.decimal(10, 2)),
          Field.of("ts", DataType.timestamp(3)));

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '"',
      value = {
        "price + 1 ; (`price` + 1)",
        "- price ; (-`price`)",
        "-5 ; (-5)",
        "price % 3 ; MOD(`price`, 3)",
        "3000000000 ; CAST(3000000000 AS BIGINT)",
        "1.50 ; CAST('1.50' AS DECIMAL(3, 2))",
        "0.05 ; CAST('0.05' AS DECIMAL(3, 2))",
        "UNKNOWN ; CAST(NULL AS BOOLEAN)",
        "CAST(name AS CHAR) ; CAST(CAST(`name` AS STRING) AS CHAR(1))",
        "TRANSLATE(name, 'a', 'b') ; TRANSLATE(`name`, 'a', 'b')",
        "1e3 ; CAST('1000.0' AS DOUBLE)",
        "'it''s' ; 'it''s'",
        "price > 10 AND name IS NOT NULL ; ((`price` > 10) AND (`name` IS NOT NULL))",
        "NOT price <> 3 OR id = 4 ; ((NOT (`price` <> 3)) OR (`id` = 4))",
        "price BETWEEN 1 AND 3 ; (`price` BETWEEN 1 AND 3)",
        "price NOT BETWEEN 1 AND 3 ; (`price` NOT BETWEEN 1 AND 3)",
        "price IN (1, 2) ; (`price` IN (1, 2))",
        "price NOT IN (1, 2) ; (`price` NOT IN (1, 2))",
        "name LIKE 'a%' ; (`name` LIKE 'a%')",
        "name NOT LIKE 'a!%' ESCAPE '!' ; (`name` NOT LIKE 'a!%' ESCAPE '!')",
        "id IS NOT DISTINCT FROM 3 ; (`id` IS NOT DISTINCT FROM 3)",
        "CAST(price AS DOUBLE) ; CAST(`price` AS DOUBLE)",
        "TRY_CAST(price AS TINYINT) ; TRY_CAST(`price` AS TINYINT)",
        "CAST(amount AS DECIMAL(12, 3)) ; CAST(`amount` AS DECIMAL(12, 3))",
        "CASE WHEN price > 1 THEN 'a' ELSE 'b' END ; CASE WHEN (`price` > 1) THEN 'a' ELSE 'b' END",
        "CASE price WHEN 1 THEN 2 END ; CASE WHEN (`price` = 1) THEN 2 ELSE CAST(NULL AS BOOLEAN) END",
        "coalesce(id, 0) ; COALESCE(`id`, 0)",
        "upper(name) || 'x' ; (UPPER(`name`) || 'x')",
        "TRIM(LEADING 'x' FROM name) ; TRIM(LEADING 'x' FROM `name`)",
        "TRIM(name) ; TRIM(BOTH ' ' FROM `name`)",
        "SUBSTRING(name FROM 2 FOR 3) ; SUBSTRING(`name`, 2, 3)",
        "POSITION('x' IN name) ; POSITION('x' IN `name`)",
        "ts + INTERVAL '3' DAY ; TIMESTAMPADD(DAY, 3, `ts`)",
        "ts - INTERVAL '3' HOUR ; TIMESTAMPADD(HOUR, (-3), `ts`)",
        "TIMESTAMPDIFF(DAY, ts, ts) ; TIMESTAMPDIFF(DAY, `ts`, `ts`)",
        "EXTRACT(YEAR FROM ts) ; EXTRACT(YEAR FROM `ts`)",
        "FLOOR(ts TO HOUR) ; FLOOR(`ts` TO HOUR)",
        "CEIL(price) ; CEIL(`price`)",
        "CAST(name AS VARCHAR(3)) ; CAST(CAST(`name` AS STRING) AS VARCHAR(3))",
        "DATE '2026-03-01' ; DATE '2026-03-01'",
        "ts > TIMESTAMP '2026-03-01 10:20:30.125' ; (`ts` > CAST('2026-03-01 10:20:30.125' AS TIMESTAMP(3)))",
      })
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
            "(`price` * 2) AS `twice`");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '"',
      value = {
        "id, prise ; select, column 5: there is no column 'prise'; did you mean 'price'?",
        "CAST(nope AS INT) ; select, column 6: there is no column 'nope'",
        "1 + UPER(name) ; select, column 5: there is no function UPER; did you mean 'UPPER'?",
        "id, price + name ; select, column 5: (`price` + `name`): ",
        "price + ; select, column 7: Encountered ",
        "id,, name ; select, column 4: Encountered ",
        "id FROM t ; select: this is more than a list of columns",
        "SUM(price) ; select, column 1: there is no function SUM",
        "RAND() ; select, column 1: RAND gives another value at each call",
        "id, CAST(id AS NUMBER) ; select, column 5: 'NUMBER' is no type that a column can have",
        "price, (SELECT 1) ; select, column 9: '",
        "(SELECT id FROM t) ; select, column 2: 'SELECT `id` FROM `t`' is no expression",
        "COUNT(*) ; select, column 7: '*' is no expression",
        "UPPER(name) OVER () ; select, column 1: 'UPPER(`name`) OVER ()' is no expression",
        "-DATE '2026-03-01' ; select, column 1: (-DATE '2026-03-01'): ",
        "1234567890123456789012345678901234567890 ; select, column 1: 1234567890123456789012345678901234567890 has more than 38 digits",
        "CAST(price AS INTERVAL DAY) ; select, column 1: 'INTERVAL DAY' is no type",
        "CAST(name AS BINARY(2)) ; select, column 1: a cast to BINARY(2), which limits bytes"
      })
  void whatCannotBeIsSaidInOneLineWithItsPosition(String sql, String message) {
    assertThatThrownBy(() -> parse(sql))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith(message)
        .hasMessageNotContaining("\n");
  }

  @Test
  void aConditionIsBoolean() {
    assertThat(SqlExpressions.parseCondition("where", "price > 1", SCHEMA, EtlPlan::parseType))
        .hasToString("(`price` > 1)");
    assertThatThrownBy(
            () ->
                SqlExpressions.parseCondition(
                    "where", "price +\n prise", SCHEMA, EtlPlan::parseType))
        .hasMessageStartingWith("where, line 2, column 2: there is no column 'prise'");
    assertThatThrownBy(
            () -> SqlExpressions.parseCondition("where", "price", SCHEMA, EtlPlan::parseType))
        .hasMessage("where, column 1: a condition is BOOLEAN, but `price` is INT");
  }

  private static List<Expression> parse(String sql) {
    return SqlExpressions.parseSelectList("select", sql, SCHEMA, EtlPlan::parseType);
  }
}
