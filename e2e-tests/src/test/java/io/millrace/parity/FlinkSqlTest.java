// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.parity.FlinkResult.FailedRow;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class FlinkSqlTest {
  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
  private static final Schema NUMBERS =
      Schema.of(
          Field.of("a", DataType.INT32),
          new Field("b", DataType.INT32, false),
          Field.of("d", DataType.FLOAT64),
          Field.of("m", DataType.decimal(10, 2)),
          Field.of("s", DataType.STRING),
          Field.of("t", DataType.timestamp(3, true)));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void valuesAndTypesAreThoseOfTheGeneratedCode() throws Exception {
    List<RowData> rows =
        rows(
            NUMBERS,
            List.of(
                Arrays.asList(
                    Integer.MAX_VALUE,
                    1,
                    0.0,
                    new BigDecimal("1.50"),
                    "Straße",
                    Instant.parse("2026-03-29T01:30:00Z")),
                Arrays.asList(null, 2, -0.0, null, null, null)));

    List<FlinkResult> results =
        new FlinkSql(NUMBERS, BERLIN)
            .evaluate(
                rows,
                List.of(
                    "a + b",
                    "b + b",
                    "d / d",
                    "m / b",
                    "UPPER(s)",
                    "CAST(t AS TIMESTAMP(3))",
                    "a IS NULL OR s LIKE 'x%'"));

    assertThat(results)
        .extracting(result -> result.type().asSerializableString())
        .containsExactly(
            "INT",
            "INT NOT NULL",
            "DOUBLE",
            "DECIMAL(21, 13)",
            "VARCHAR(2147483647)",
            "TIMESTAMP(3)",
            "BOOLEAN");
    assertThat(results)
        .extracting(result -> result.values().get(0))
        .containsExactly(
            Integer.MIN_VALUE,
            2,
            Double.NaN,
            new BigDecimal("1.5000000000000"),
            "STRASSE",
            LocalDateTime.parse("2026-03-29T03:30:00"),
            false);
    assertThat(results)
        .extracting(result -> result.values().get(1))
        .containsExactly(null, 4, Double.NaN, null, null, null, true);
  }

  @Test
  void aFailureBelongsToItsExpressionAndRow() throws Exception {
    List<RowData> rows =
        rows(
            NUMBERS,
            List.of(
                Arrays.asList(6, 2, null, null, "7", null),
                Arrays.asList(6, 0, null, null, "8", null),
                Arrays.asList(6, 3, null, null, "x", null)));

    List<FlinkResult> results =
        new FlinkSql(NUMBERS, BERLIN)
            .evaluate(rows, List.of("a / b", "CAST(s AS INT)", "a + b", "NO_SUCH(a)"));

    assertThat(results.get(0).values()).startsWith(3).endsWith(2);
    assertThat(failure(results.get(0).values().get(1))).isInstanceOf(ArithmeticException.class);
    assertThat(results.get(1).values()).startsWith(7, 8);
    assertThat(failure(results.get(1).values().get(2))).isInstanceOf(NumberFormatException.class);
    assertThat(results.get(2).values()).containsExactly(8, 6, 9);
    assertThat(results.get(3).isRefused()).isTrue();
    assertThat(results.get(3).refusal())
        .isInstanceOf(ValidationException.class)
        .hasStackTraceContaining("NO_SUCH");
  }

  private static Throwable failure(Object value) {
    Throwable cause = ((FailedRow) value).cause();
    return cause.getCause() == null ? cause : cause.getCause();
  }

  @Test
  void columnsOfAllTypesComeBack() throws Exception {
    Schema schema = DataTypes.schema(DataTypes.flat());
    List<List<Object>> values = new RandomTables(random.random(), 0.1).rows(schema, 1000);
    List<String> columns = schema.names().stream().map(name -> "COALESCE(" + name + ")").toList();

    List<FlinkResult> results =
        new FlinkSql(schema, BERLIN).evaluate(rows(schema, values), columns);

    for (int i = 0; i < schema.size(); i++) {
      int column = i;
      assertThat(results.get(i).values())
          .isEqualTo(values.stream().map(row -> row.get(column)).toList());
    }
  }

  @Test
  void theOperatorsGiveWhatAJobGives() throws Exception {
    Schema schema = DataTypes.schema(DataTypes.flat());
    List<List<Object>> values = new RandomTables(random.random(), 0.1).rows(schema, 1000);
    List<RowData> rows = rows(schema, values);
    List<String> expressions =
        List.of("c1 + c2", "c6 * c4", "UPPER(c18) || 'x'", "c9 - c7", "c0 AND c4 > c3");
    FlinkSql flink = new FlinkSql(schema, BERLIN);

    List<FlinkResult> results = flink.evaluate(rows, expressions);

    List<List<Object>> byRow = new ArrayList<>();
    for (int row = 0; row < rows.size(); row++) {
      int index = row;
      byRow.add(results.stream().map(result -> result.values().get(index)).toList());
    }
    assertThat(flink.runJob(rows, expressions)).isEqualTo(byRow);
  }

  private List<RowData> rows(Schema schema, List<List<Object>> values) {
    try (Table table = TableBuilder.ofRows(schema, values).buildOnHost(device);
        AccessScope scope = AccessScope.on(device.hostStream())) {
      RowDataDecoder decoder = new RowDataDecoder(table, scope);
      return IntStream.range(0, values.size())
          .<RowData>mapToObj(row -> decoder.decode(row).copy())
          .toList();
    }
  }
}
