// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.function;

import static io.millrace.expression.Expressions.call;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.vector.BatchContext;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.parity.FlinkResult;
import io.millrace.parity.FlinkSql;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions of the clock have the types that Flink gives them, and its values at one time. */
class CurrentTimeParityTest {
  private static final Schema SCHEMA = Schema.of(Field.of("a", DataType.INT64));
  private static final List<Expression> EXPRESSIONS =
      List.of(
          call("CURRENT_TIMESTAMP"),
          call("NOW"),
          call("CURRENT_ROW_TIMESTAMP"),
          call("LOCALTIMESTAMP"),
          call("LOCALTIME"),
          call("CURRENT_TIME"),
          call("CURRENT_DATE"),
          call("UNIX_TIMESTAMP"));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @ParameterizedTest
  @ValueSource(strings = {"UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns"})
  void oneTimeGivesTheSameValues(String zone) throws Exception {
    ResolutionContext context =
        new ResolutionContext(ZoneId.of(zone), FunctionRegistry.builtIn()).withBatch();
    List<FlinkResult> flinks =
        new FlinkSql(SCHEMA, context.zone())
            .evaluate(
                List.of(GenericRowData.of(1L)),
                EXPRESSIONS.stream().map(Expression::toString).toList());
    // Flink reads the clock once for all of them, and once more for UNIX_TIMESTAMP.
    Instant time = (Instant) flinks.get(0).values().get(0);
    List<Expression> columns =
        IntStream.range(0, EXPRESSIONS.size())
            .mapToObj(i -> EXPRESSIONS.get(i).as("c" + i))
            .toList();

    try (Calc calc = Calc.of(SCHEMA, Optional.empty(), columns, context);
        Table table = new TableBuilder().column("a", DataType.INT64, 1L).build(device);
        Table result =
            calc.apply(
                table,
                new BatchContext(time.toEpochMilli(), BatchContext.NO_WATERMARK, 0, 0),
                device.stream(),
                device.memory())) {
      List<Object> ours = device.rows(result).get(0);
      for (int i = 0; i < EXPRESSIONS.size(); i++) {
        FlinkResult flink = flinks.get(i);
        Field type = SchemaConverter.toSchema(RowType.of(flink.type())).field(0);
        Field field = calc.outputSchema().field(i);
        assertThat(new Field(type.name(), field.type(), field.nullable()))
            .as(flink.expression())
            .isEqualTo(type);
        if (flink.expression().equals("UNIX_TIMESTAMP()")) {
          assertThat((long) flink.values().get(0))
              .isBetween((long) ours.get(i), (long) ours.get(i) + 1);
        } else {
          assertThat(ours.get(i)).as(flink.expression()).isEqualTo(flink.values().get(0));
        }
      }
    }
  }
}
