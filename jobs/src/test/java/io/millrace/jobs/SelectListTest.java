package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.transform.Projection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SelectListTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("id", DataType.INT64),
          new Field("price", DataType.INT32, false),
          Field.of("name", DataType.STRING));

  @Test
  void readsColumnsNamesAndCasts() {
    assertThat(parse("id, name AS label, CAST(price AS DOUBLE) AS eur, cast(id as int)"))
        .containsExactly(
            new Projection("id", Field.of("id", DataType.INT64)),
            new Projection("name", Field.of("label", DataType.STRING)),
            new Projection("price", new Field("eur", DataType.FLOAT64, false)),
            new Projection("id", Field.of("id", DataType.INT32)));
  }

  @Test
  void commasInsideParenthesesDoNotSplit() {
    assertThat(SelectList.split("a, CAST(b AS DECIMAL(10, 2)) AS c,d"))
        .containsExactly("a", "CAST(b AS DECIMAL(10, 2)) AS c", "d");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "idd | there is no column 'idd'; the columns are id, price, name",
        "CAST(nope AS INT) | there is no column 'nope'; the columns are id, price, name",
        "CAST(name AS INT) | cannot cast column 'name' from STRING to INT",
        "price + 1 | cannot read 'price + 1' in the select list",
        "id,, name | cannot read '' in the select list"
      })
  void whatCannotBeReadIsSaidInOneLine(String text, String message) {
    assertThatThrownBy(() -> parse(text))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith(message);
  }

  private static List<Projection> parse(String text) {
    return SelectList.parse(text, SCHEMA, EtlPlan::parseType);
  }
}
