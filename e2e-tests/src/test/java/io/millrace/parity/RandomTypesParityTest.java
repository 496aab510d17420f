// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.memory.AccessScope;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.testing.CalcResults;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.ExpressionValues;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Decimals and timestamps of any precision, and what they become beside others, are Flink's. */
class RandomTypesParityTest {
  private static final ResolutionContext CONTEXT =
      new ResolutionContext(ZoneId.of("Europe/Berlin"), FunctionRegistry.builtIn());
  private static final int ROWS = 200;
  private static final int EXPRESSIONS = 60;
  private static final int COLUMNS = 8;
  private static final int MAX_PRECISION = 38;
  private static final List<DataType> NUMBERS =
      List.of(
          DataType.INT8,
          DataType.INT16,
          DataType.INT32,
          DataType.INT64,
          DataType.FLOAT32,
          DataType.FLOAT64);

  /** Without GREATEST and LEAST, which fail in Flink for a null among decimals. */
  private static final List<String> BINARY =
      List.of("+", "-", "*", "/", "=", "<>", "<", ">=", "COALESCE", "NULLIF", "IFNULL");

  private static final List<String> UNARY =
      List.of("ABS", "FLOOR", "CEIL", "ROUND", "TRUNCATE", "SIGN", "NEGATE");
  private static final List<String> UNITS =
      List.of("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void functionsOfDecimalsAreFlinks() throws Exception {
    Random numbers = random.random();
    Schema schema = decimalsAndNumbers(numbers);

    compare(
        schema,
        numbers,
        () -> {
          Expression decimal = column(schema, numbers.nextInt(COLUMNS));
          Expression other = column(schema, numbers.nextInt(schema.size()));
          return switch (numbers.nextInt(5)) {
            case 0 -> call(any(UNARY, numbers), decimal);
            case 1 -> call(any(List.of("ROUND", "TRUNCATE"), numbers), decimal, digits(numbers));
            case 2 -> call("MOD", decimal, column(schema, numbers.nextInt(COLUMNS)));
            case 3 -> call(any(BINARY, numbers), decimal, other);
            default -> call(any(BINARY, numbers), other, decimal);
          };
        });
  }

  @Test
  void castsOfDecimalsAreFlinks() throws Exception {
    Random numbers = random.random();
    Schema schema = decimalsAndNumbers(numbers);

    compare(
        schema,
        numbers,
        () -> {
          int column = numbers.nextInt(schema.size());
          boolean toDecimal = column >= COLUMNS || numbers.nextBoolean();
          DataType type = toDecimal ? decimal(numbers) : any(NUMBERS, numbers);
          return new Expression.Cast(column(schema, column), type, numbers.nextBoolean());
        });
  }

  @Test
  void functionsOfTimestampsAreFlinks() throws Exception {
    Random numbers = random.random();
    Schema schema =
        schema(
            Stream.generate(() -> timestamp(numbers)).limit(COLUMNS).distinct().toList(), numbers);

    compare(
        schema,
        numbers,
        () -> {
          Expression timestamp = column(schema, numbers.nextInt(schema.size()));
          Expression other = column(schema, numbers.nextInt(schema.size()));
          String unit = any(UNITS, numbers);
          return switch (numbers.nextInt(6)) {
            case 0 -> call("FLOOR TO", timestamp, unit);
            case 1 -> call("CEIL TO", timestamp, unit);
            case 2 -> call("EXTRACT", unit, timestamp);
            case 3 -> call("TIMESTAMPADD", unit, lit(numbers.nextInt(2000) - 1000), timestamp);
            case 4 -> call(any(List.of("=", "<", "COALESCE", "NULLIF"), numbers), timestamp, other);
            default ->
                new Expression.Cast(
                    timestamp,
                    numbers.nextInt(4) == 0 ? DataType.STRING : timestamp(numbers),
                    numbers.nextBoolean());
          };
        });
  }

  private void compare(Schema schema, Random numbers, Supplier<Expression> expressions)
      throws Exception {
    List<Expression> compared = Stream.generate(expressions).distinct().limit(EXPRESSIONS).toList();
    List<List<Object>> values = new ExpressionValues(numbers).rows(schema, ROWS);
    CalcResults calc = new CalcResults(CONTEXT, device, Integer.MAX_VALUE);
    List<FlinkResult> flinks =
        new FlinkSql(schema, CONTEXT.zone())
            .evaluate(rows(schema, values), compared.stream().map(Expression::toString).toList());
    try (Table table = TableBuilder.ofRows(schema, values).build(device)) {
      ParityReport report =
          new ParityReport(
              schema,
              values,
              new ExpressionResolver(schema, CONTEXT),
              parts -> calc.evaluate(table, parts));
      List<List<Object>> ours = calc.evaluate(table, compared);
      for (int i = 0; i < compared.size(); i++) {
        report.compare(compared.get(i), ours.get(i), flinks.get(i));
      }

      assertThat(report.differences()).isEmpty();
    }
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

  private static Schema decimalsAndNumbers(Random numbers) {
    return schema(Stream.concat(decimals(numbers).stream(), NUMBERS.stream()).toList(), numbers);
  }

  private static Schema schema(List<DataType> types, Random numbers) {
    List<Field> fields = new ArrayList<>();
    for (DataType type : types) {
      fields.add(new Field("c" + fields.size(), type, numbers.nextBoolean()));
    }
    return new Schema(fields);
  }

  private static Expression column(Schema schema, int index) {
    return col(schema.field(index).name());
  }

  private static List<DataType> decimals(Random numbers) {
    return Stream.generate(() -> decimal(numbers)).limit(COLUMNS).toList();
  }

  private static DataType decimal(Random numbers) {
    int precision = 1 + numbers.nextInt(MAX_PRECISION);
    return DataType.decimal(precision, numbers.nextInt(precision + 1));
  }

  private static DataType timestamp(Random numbers) {
    return DataType.timestamp(numbers.nextInt(10), numbers.nextBoolean());
  }

  private static Expression digits(Random numbers) {
    return lit(numbers.nextInt(MAX_PRECISION + 5) - 5);
  }

  private static <T> T any(List<T> values, Random numbers) {
    return values.get(numbers.nextInt(values.size()));
  }
}
