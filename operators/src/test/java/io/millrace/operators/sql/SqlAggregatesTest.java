// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlAggregatesTest {
  private static final Schema SCHEMA =
      Schema.of(Field.of("price", DataType.INT32), Field.of("name", DataType.STRING));

  private static List<SqlAggregate> parse(String sql) {
    return SqlExpressions.parseAggregates("aggregates", sql, SCHEMA, SchemaParser::parseType);
  }

  @Test
  void sqlMeansTheAggregateThatItSays() {
    assertThat(
            parse(
                "COUNT(*) AS n, count(name), Sum(ALL price * 2) s,\n"
                    + "MIN(price), MAX(price) FILTER (WHERE name LIKE 'a%') AS `the max`, AVG(price), "
                    + "count(distinct price), SUM(DISTINCT price) FILTER (WHERE price > 1) AS d, "
                    + "FIRST_VALUE(price), LAST_VALUE(price), STDDEV(price), STDDEV_POP(price), VARIANCE(price), var_pop(price), VAR_SAMP(price), "
                    + "LISTAGG(name), listagg(UPPER(name), ' it''s ') FILTER (WHERE price > 1) AS l"))
        .extracting(parsed -> parsed.aggregate().toString())
        .containsExactly(
            "COUNT(*) AS n",
            "COUNT(`name`)",
            "SUM((`price` * 2)) AS s",
            "MIN(`price`)",
            "MAX(`price`) FILTER (WHERE (`name` LIKE 'a%')) AS the max",
            "AVG(`price`)",
            "COUNT(DISTINCT `price`)",
            "SUM(DISTINCT `price`) FILTER (WHERE (`price` > 1)) AS d",
            "FIRST_VALUE(`price`)",
            "LAST_VALUE(`price`)",
            "STDDEV_SAMP(`price`)",
            "STDDEV_POP(`price`)",
            "VAR_SAMP(`price`)",
            "VAR_POP(`price`)",
            "VAR_SAMP(`price`)",
            "LISTAGG(`name`)",
            "LISTAGG(UPPER(`name`), ' it''s ') FILTER (WHERE (`price` > 1)) AS l");
  }

  @Test
  void theInputsAreTheArgumentAndTheFilter() {
    assertThat(parse("COUNT(*), SUM(price) FILTER (WHERE price > 1) AS s"))
        .extracting(parsed -> parsed.inputs().toString())
        .containsExactly("[]", "[`price`, (`price` > 1)]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '"',
      value = {
        "price ; column 1: expected an aggregate function, one of COUNT, SUM, MIN, MAX, AVG, FIRST_VALUE, LAST_VALUE, STDDEV_POP, STDDEV_SAMP, STDDEV, VAR_POP, VAR_SAMP, VARIANCE, LISTAGG, got 'price'",
        "COUNT(*), * ; column 11: expected an aggregate function, one of COUNT, SUM, MIN, MAX, AVG, FIRST_VALUE, LAST_VALUE, STDDEV_POP, STDDEV_SAMP, STDDEV, VAR_POP, VAR_SAMP, VARIANCE, LISTAGG, got '*'",
        "UPPER(name) ; column 1: expected an aggregate function, one of COUNT, SUM, MIN, MAX, AVG, FIRST_VALUE, LAST_VALUE, STDDEV_POP, STDDEV_SAMP, STDDEV, VAR_POP, VAR_SAMP, VARIANCE, LISTAGG, got 'UPPER(`name`)'",
        "SUM(price) + 1 ; column 1: expected an aggregate function, one of COUNT",
        "SUM(DISTINCT price, name) ; column 1: expected one argument in 'SUM(DISTINCT `price`, `name`)'",
        "SUM(price, price) ; column 1: expected one argument in 'SUM(`price`, `price`)'",
        "LISTAGG(name, name) ; column 15: expected a string literal for the separator, got 'name'",
        "LISTAGG(name, ',', 1) ; column 1: expected one argument in 'LISTAGG(`name`, ',', 1)'",
        "SUM(*) ; column 5: expected an expression of the columns of a row, got '*'",
        "SUM(prize) ; column 5: there is no column 'prize'; did you mean 'price'?",
        "SUM(MAX(price)) ; column 5: there is no function MAX",
        "SUM(price) FILTER (WHERE price) ; column 26: a condition is BOOLEAN, but `price` is INT",
        "SUM(price) OVER () ; column 1: expected an aggregate function, one of COUNT",
        "COUNT(*) FROM t ; column 15: 't': a list of columns has no DISTINCT, hint, FROM"
      })
  void errorsAreOneLineWithTheirPosition(String sql, String message) {
    assertThatThrownBy(() -> parse(sql))
        .isInstanceOf(SqlTextException.class)
        .hasMessageStartingWith("aggregates, " + message)
        .hasMessageNotContaining("\n");
  }
}
