// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two values of types that we take together, Flink takes too. The other way round there are
 * exceptions, such as an order of BOOLEANs; {@link FlinkParityTest} only makes calls that we take.
 */
class TypePairsParityTest {
  private static final ResolutionContext CONTEXT =
      new ResolutionContext(ZoneId.of("Europe/Berlin"), FunctionRegistry.builtIn());
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("c_bool", DataType.BOOL),
          Field.of("c_int", DataType.INT32),
          Field.of("c_bigint", DataType.INT64),
          Field.of("c_double", DataType.FLOAT64),
          Field.of("c_decimal", DataType.decimal(10, 2)),
          Field.of("c_date", DataType.DATE),
          Field.of("c_time", DataType.TIME),
          Field.of("c_ts3", DataType.timestamp(3)),
          Field.of("c_ts9", DataType.timestamp(9)),
          Field.of("c_ltz", DataType.timestamp(6, true)),
          Field.of("c_string", DataType.STRING),
          Field.of("c_binary", DataType.BINARY));

  @ParameterizedTest
  @ValueSource(
      strings = {"=", "<", "IS DISTINCT FROM", "IN", "NULLIF", "IFNULL", "GREATEST", "+", "-"})
  void flinkTakesThePairsThatWeTake(String function) throws Exception {
    ExpressionResolver resolver = new ExpressionResolver(SCHEMA, CONTEXT);
    List<String> taken = new ArrayList<>();
    for (String left : SCHEMA.names()) {
      for (String right : SCHEMA.names()) {
        Expression pair = call(function, col(left), col(right));
        if (!left.equals(right) && isTaken(resolver, pair)) {
          taken.add(pair.toString());
        }
      }
    }

    List<FlinkResult> flinks =
        new FlinkSql(SCHEMA, CONTEXT.zone())
            .evaluate(List.of(new GenericRowData(SCHEMA.size())), taken);

    assertThat(taken).isNotEmpty();
    assertThat(flinks.stream().filter(FlinkResult::isRefused).map(FlinkResult::expression))
        .isEmpty();
  }

  private static boolean isTaken(ExpressionResolver resolver, Expression expression) {
    try {
      resolver.resolve(expression);
      return true;
    } catch (ExpressionException e) {
      return false;
    }
  }
}
