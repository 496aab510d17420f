// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.CalcResults;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Casts to TIME(0) to TIME(3), whose digits our columns do not know: what SQL writes as one cast is
 * two here.
 */
class TimePrecisionParityTest {
  private static final ResolutionContext CONTEXT =
      new ResolutionContext(ZoneId.of("Europe/Berlin"), FunctionRegistry.builtIn());
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("ts3", DataType.timestamp(3)),
          Field.of("ts6", DataType.timestamp(6)),
          Field.of("ts9", DataType.timestamp(9)),
          Field.of("ltz3", DataType.timestamp(3, true)),
          Field.of("t", DataType.TIME));
  private static final List<String> TIMES =
      List.of(
          "0001-01-01T00:00:00.001",
          "1582-10-04T23:59:59.999999",
          "1677-09-21T00:12:43.146",
          "1969-12-31T00:00:00",
          "1969-12-31T23:59:59.999999999",
          "1970-01-01T00:00:00.999",
          "2020-01-01T10:20:30.120",
          "9999-12-31T23:59:59.987654321");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void digitsAreCutTowardsMidnight(int precision) throws Exception {
    List<String> sql = new ArrayList<>();
    List<Expression> expressions = new ArrayList<>();
    for (Field field : SCHEMA.fields()) {
      Expression value = col(field.name());
      Expression time = field.type().equals(DataType.TIME) ? value : value.cast(DataType.TIME);
      Expression cut = precision < 3 ? call("CAST_TIME", time, precision) : time;
      String cast = "CAST(" + field.name() + " AS TIME(" + precision + "))";
      sql.add(cast);
      expressions.add(cut);
      sql.add("CAST(" + cast + " AS STRING)");
      expressions.add(new Expression.Cast(cut, DataType.STRING, false));
      sql.add("CAST(COALESCE(" + cast + ", " + cast + ") AS STRING)");
      expressions.add(new Expression.Cast(call("COALESCE", cut, cut), DataType.STRING, false));
    }
    List<List<Object>> values = new ArrayList<>();
    List<RowData> rows = new ArrayList<>();
    for (String text : TIMES) {
      addRow(LocalDateTime.parse(text), values, rows);
    }

    List<FlinkResult> flinks = new FlinkSql(SCHEMA, CONTEXT.zone()).evaluate(rows, sql);
    CalcResults calc = new CalcResults(CONTEXT, device, Integer.MAX_VALUE);
    try (Table table = TableBuilder.ofRows(SCHEMA, values).build(device)) {
      List<List<Object>> ours = calc.evaluate(table, expressions);
      for (int i = 0; i < sql.size(); i++) {
        assertThat(ours.get(i)).as(sql.get(i)).isEqualTo(flinks.get(i).values());
      }
    }
  }

  private static void addRow(LocalDateTime time, List<List<Object>> values, List<RowData> rows) {
    long millis = time.toInstant(ZoneOffset.UTC).toEpochMilli();
    int nanos = time.get(ChronoField.NANO_OF_SECOND) % 1_000_000;
    LocalDateTime ofMillis = time.minusNanos(nanos);
    LocalTime ofDay = ofMillis.toLocalTime();
    values.add(
        List.of(
            ofMillis,
            time.minusNanos(nanos % 1_000),
            time,
            ofMillis.toInstant(ZoneOffset.UTC),
            ofDay));
    rows.add(
        GenericRowData.of(
            TimestampData.fromEpochMillis(millis),
            TimestampData.fromEpochMillis(millis, nanos - nanos % 1_000),
            TimestampData.fromEpochMillis(millis, nanos),
            TimestampData.fromEpochMillis(millis),
            (int) (ofDay.toNanoOfDay() / 1_000_000)));
  }
}
