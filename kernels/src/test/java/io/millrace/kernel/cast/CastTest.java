// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.cast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CastTest {
  private static final List<DataType> NUMERIC =
      List.of(
          DataType.INT8,
          DataType.INT16,
          DataType.INT32,
          DataType.INT64,
          DataType.FLOAT32,
          DataType.FLOAT64);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @RowCountTest
  void everyPairConvertsAsJavaDoes(int rowCount) {
    for (DataType from : NUMERIC) {
      Schema schema = Schema.of(Field.of("value", from));
      List<List<Object>> rows =
          new RandomTables(random.random(), 0.2).rows(schema, Math.min(rowCount, 2_000));
      try (Table table = TableBuilder.ofRows(schema, rows).build(device)) {
        for (DataType to : NUMERIC) {
          assertThat(cast(table, to)).as(from + " to " + to).isEqualTo(expected(rows, to));
        }
      }
    }
  }

  @Test
  void floatingPointSaturatesAndNotANumberIsZero() {
    Object[] values = {Double.NaN, 1e300, -1e300, 2147483648.0, -2147483649.0, -0.9, 0.9};
    try (Table table = new TableBuilder().column("value", DataType.FLOAT64, values).build(device)) {
      assertThat(cast(table, DataType.INT32))
          .containsExactly(
              0, Integer.MAX_VALUE, Integer.MIN_VALUE, Integer.MAX_VALUE, Integer.MIN_VALUE, 0, 0);
      assertThat(cast(table, DataType.INT8))
          .containsExactly((byte) 0, (byte) -1, (byte) 0, (byte) -1, (byte) 0, (byte) 0, (byte) 0);
    }
  }

  @Test
  void slicesKeepTheirNulls() {
    Schema schema = Schema.of(Field.of("value", DataType.INT32));
    List<List<Object>> rows = new RandomTables(random.random(), 0.5).rows(schema, 1_300);
    try (Table table = TableBuilder.ofRows(schema, rows).build(device);
        Table slice = table.slice(1_037, 201)) {
      assertThat(cast(slice, DataType.FLOAT64))
          .isEqualTo(expected(rows.subList(1_037, 1_238), DataType.FLOAT64));
    }
  }

  @Test
  void sameTypeSharesTheMemory() {
    try (Table table = new TableBuilder().column("name", DataType.STRING, "a").build(device);
        Column cast =
            Cast.cast(table.column(0), DataType.STRING, device.stream(), device.memory())) {
      assertThat(cast.data().orElseThrow().liveSlices()).isEqualTo(2);
    }
  }

  @Test
  void otherCastsAreRefused() {
    try (Table table = new TableBuilder().column("name", DataType.STRING, "1").build(device)) {
      assertThatThrownBy(
              () -> Cast.cast(table.column(0), DataType.INT64, device.stream(), device.memory()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("cannot cast STRING to BIGINT");
    }
  }

  @Test
  void argumentsHaveTheSizeThatTheKernelExpects() {
    if (device.isCuda()) {
      assertThat(device.device().loadModule("cast").constant("sizeof_CastArguments"))
          .isEqualTo(Cast.Arguments.LAYOUT.bytes());
    }
  }

  @Test
  void argumentsHaveTheFieldsOfTheKernel() {
    assertThat(Cast.Arguments.LAYOUT.fields())
        .isEqualTo(CudaStructures.ofSources().layout("CastArguments").fields());
  }

  private List<Object> cast(Table table, DataType to) {
    boolean launches = table.rowCount() > 0 && !table.column(0).type().equals(to);
    Column cast =
        device.assertLaunches(
            launches ? 1 : 0,
            () -> Cast.cast(table.column(0), to, device.stream(), device.memory()));
    Schema schema = Schema.of(Field.of("value", to));
    try (Table result = new Table(schema, List.of(cast), table.rowCount())) {
      return column(device.rows(result));
    }
  }

  private static List<Object> column(List<List<Object>> rows) {
    List<Object> values = new ArrayList<>();
    rows.forEach(row -> values.add(row.get(0)));
    return values;
  }

  private static List<Object> expected(List<List<Object>> rows, DataType to) {
    List<Object> values = new ArrayList<>();
    for (List<Object> row : rows) {
      values.add(row.get(0) == null ? null : convert((Number) row.get(0), to));
    }
    return values;
  }

  private static Object convert(Number value, DataType to) {
    return switch (to.id()) {
      case INT8 -> value.byteValue();
      case INT16 -> value.shortValue();
      case INT32 -> value.intValue();
      case INT64 -> value.longValue();
      case FLOAT32 -> value.floatValue();
      case FLOAT64 -> value.doubleValue();
      default -> throw new IllegalArgumentException(to.toString());
    };
  }
}
