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
          Field.of("ts", DataType.timestamp(3)),
          Field.of("d", DataType.DATE),
          Field.of("r", DataType.struct(Field.of("x", DataType.INT32))));

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
        "DATE '2026-3-1' ; DATE '2026-03-01'",
        "TIME '1:2:3' ; CAST('01:02:03' AS TIME(3))",
        "TIMESTAMP '2026-3-1 1:2:3' ; CAST('2026-03-01 01:02:03' AS TIMESTAMP(0))",
        "TIMESTAMP '2026-03-01' ; CAST('2026-03-01 00:00:00' AS TIMESTAMP(0))",
        "{ts '2026-03-01 10:20:30.5'} ; CAST('2026-03-01 10:20:30.500' AS TIMESTAMP(1))",
        "ts + INTERVAL -'3' DAY ; TIMESTAMPADD(DAY, (-3), `ts`)",
        "INTERVAL '3' WEEK + ts ; TIMESTAMPADD(WEEK, 3, `ts`)",
        "d + INTERVAL '3' MONTH ; TIMESTAMPADD(MONTH, 3, `d`)",
        "d + INTERVAL '49' HOUR ; TIMESTAMPADD(DAY, 2, `d`)",
        "d - INTERVAL '1' SECOND ; TIMESTAMPADD(DAY, 0, `d`)",
        "CAST(ts AS TIME) ; FLOOR(CAST(`ts` AS TIME(3)) TO SECOND)",
        "TRY_CAST(name AS TIME(0)) ; FLOOR(TRY_CAST(`name` AS TIME(3)) TO SECOND)",
        "CAST(ts AS TIME(3)) ; CAST(`ts` AS TIME(3))",
        "TRY_CAST(name AS VARCHAR(3)) ; CAST(TRY_CAST(`name` AS STRING) AS VARCHAR(3))",
        "_UTF8'a' || N'b' ; ('a' || 'b')",
        "U&'!00e4\\' UESCAPE '!' ; 'ä\\'",
        "price BETWEEN ASYMMETRIC 1 AND 3 ; (`price` BETWEEN 1 AND 3)",
        "name NOT SIMILAR TO 'a!|b' ESCAPE '!' ; (`name` NOT SIMILAR TO 'a!|b' ESCAPE '!')",
        "CASE price WHEN 1, 2 THEN 'a' ELSE 'b' END ; CASE WHEN (`price` IN (1, 2)) THEN 'a' ELSE 'b' END",
        "`price` /* no hint */ -- to the end ; `price`",
        "- - 1 ; 1",
        "d BETWEEN '2026-03-01' AND '2026-04-01' ; (`d` BETWEEN '2026-03-01' AND '2026-04-01')",
        "ts IN ('2026-03-01', '2026-03-01 10:20:30') ; (`ts` IN ('2026-03-01', '2026-03-01 10:20:30'))",
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
            "`d`",
            "`r`",
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
        "DISTINCT price ; select, column 1: 'DISTINCT': a list of columns has no DISTINCT",
        "STREAM price ; select, column 1: 'STREAM': a list of columns has no ",
        "/*+ STATE_TTL('a'='1d') */ price ; select, column 5: '`STATE_TTL`('a' = '1d')': a list",
        "id FROM t ; select, column 9: 't': a list of columns has no DISTINCT, hint, FROM",
        "id FROM t WHERE id > 1 ; select, column 9: 't': a list",
        "id ORDER BY name ; select, column 13: 'name': a list",
        "id LIMIT 3 ; select, column 10: '3': a list",
        "id OFFSET 3 ROWS ; select, column 11: '3': a list",
        "id UNION ALL SELECT id ; select, column 14: 'SELECT `id`': a list",
        "id UNION SELECT id ORDER BY id ; select, column 29: 'id': a list",
        "id AS a(b) ; select, column 8: Encountered ",
        "t.* ; select, column 1: 't.*' is no expression",
        "r.* ; select, column 1: 'r.*' is no expression",
        "(r).x ; select, column 2: '`r`.`x`' is no expression",
        "NULL ; select, column 1: NULL alone has no type",
        "id, NULL AS n ; select, column 5: NULL alone has no type",
        "UPPER(DISTINCT name) ; select, column 1: DISTINCT is for aggregate functions alone",
        "1 + ABS(ALL price) ; select, column 5: ALL is for aggregate functions alone",
        "UPPER(name) FILTER (WHERE price > 1) ; select, column 1: 'UPPER(`name`) FILTER ",
        "UPPER(name) WITHIN GROUP (ORDER BY id) ; select, column 1: 'UPPER(`name`) WITHIN GROUP ",
        "UPPER(name) IGNORE NULLS ; select, column 13: 'UPPER(`name`) IGNORE NULLS' is no ",
        "UPPER(name) RESPECT NULLS ; select, column 13: 'UPPER(`name`) RESPECT NULLS' is no ",
        "UPPER(text => name) ; select, column 7: '`text` => `name`' is no expression",
        "a.b.f(name) ; select, column 5: '`a`.`b`.`f`(`name`)' calls a function of a catalog",
        "price BETWEEN SYMMETRIC 1 AND 3 ; select, column 1: BETWEEN SYMMETRIC is not supported",
        "(price, id) IN ((1, 2)) ; select, column 1: 'ROW(`price`, `id`)' is no expression",
        "ARRAY[1, 2] ; select, column 1: 'ARRAY[1, 2]' is no expression",
        "MAP['a', 1] ; select, column 1: 'MAP['a', 1]' is no expression",
        "r[1] ; select, column 1: '`r`[1]' is no expression",
        "price = ANY (1, 2) ; select, column 1: there is no function = SOME",
        "EXISTS (SELECT 1) ; select, column 1: there is no function EXISTS",
        "id IN (SELECT 1) ; select, column 1: 'SELECT 1' is no list of values",
        "JSON_QUERY(name, '$.a') ; select, column 1: there is no function JSON_QUERY",
        "NEXT VALUE FOR s ; select, column 1: there is no function NEXT_VALUE",
        "TUMBLE(ts, INTERVAL '1' DAY) ; select, column 1: there is no function TUMBLE",
        "CURRENT_DATE ; select, column 1: CURRENT_DATE gives another value at each call",
        "ts > CURRENT_TIMESTAMP ; select, column 6: CURRENT_TIMESTAMP gives another value",
        "`CURRENT_DATE` ; select, column 1: there is no column 'CURRENT_DATE'",
        "name COLLATE latin1 ; select, column 6: Incorrect syntax near the keyword 'COLLATE'",
        "'a' 'b' ; select, column 1: ''a' 'b'' is no expression",
        "X'ab' ; select, column 1: the literal X'AB' is not supported",
        "id, d > 'soon' ; select, column 5: (`d` > 'soon'): 'soon' is no DATE",
        "price = '1' ; select, column 1: (`price` = '1'): a STRING is equal to no INT",
        "1e400 ; select, column 1: 1E+400 is out of DOUBLE's range",
        "DATE '2026-02-30' ; select, column 1: '2026-02-30' is no DATE",
        "TIME '10:20' ; select, column 1: '10:20' is no TIME",
        "TIMESTAMP '2026-03-01T10:20:30' ; select, column 1: '2026-03-01T10:20:30' is no TIMESTAMP",
        "INTERVAL '3' DAY ; select, column 1: the literal INTERVAL '3' DAY is not supported",
        "ts + INTERVAL '1-2' YEAR TO MONTH ; select, column 1: an interval has one unit",
        "ts + INTERVAL '3.5' SECOND ; select, column 1: INTERVAL '3.5' SECOND is no whole number",
        "CAST(name AS DATE FORMAT 'YYYY') ; select, column 19: Encountered ",
        "CAST(name AS INT NOT NULL) ; select, column 18: Encountered ",
        "CAST(name AS VARCHAR(3) CHARACTER SET latin1) ; select, column 1: 'VARCHAR(3) CHARACTER SET",
        "CAST(ts AS TIME(1)) ; select, column 1: a cast to TIME(1) is not supported",
        "CAST(name AS VARIANT) ; select: it does not parse: VARIANT",
        "SUM(price) ; select, column 1: there is no function SUM",
        "RAND() ; select, column 1: RAND gives another value at each call",
        "id, CAST(id AS NUMBER) ; select, column 5: 'NUMBER' is no type that a column can have",
        "price, (SELECT 1) ; select, column 9: '",
        "(SELECT id FROM t) ; select, column 2: 'SELECT `id` FROM `t`' is no expression",
        "COUNT(*) ; select, column 1: there is no function COUNT",
        "UPPER(*) ; select, column 7: '*' is no expression",
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
