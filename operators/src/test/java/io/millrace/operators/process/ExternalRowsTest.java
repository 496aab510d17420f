// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.process.ProcessHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.io.Serializable;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows in Java are equal when those of columns are. */
@ExtendWith(NothingHeldExtension.class)
class ExternalRowsTest {
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT32, false),
          new Field("command", DataType.INT32, false),
          new Field("m", DataType.INT32, false),
          new Field("v", DataType.INT32, false),
          new Field("kind", DataType.INT32, false));
  private static final int COMMANDS = 7;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  /** Runs commands on a map and a list, with Java values that rows name by their positions. */
  private static final class JavaValues extends HostKeyedFunction {
    private static final long serialVersionUID = 1L;
    private final DataType type;
    private final List<Serializable> values;

    JavaValues(DataType type, List<Serializable> values) {
      this.type = type;
      this.values = values;
    }

    @Override
    public Schema outputSchema(Schema input) {
      return Schema.of(new Field("answer", DataType.STRING, false));
    }

    @Override
    public Schema stateSchema(Schema input) {
      return Schema.of();
    }

    @Override
    public List<MapStateSchema> mapStates(Schema input) {
      return List.of(
          new MapStateSchema(
              "map", Schema.of(Field.of("m", type)), Schema.of(Field.of("v", type))));
    }

    @Override
    public List<ListStateSchema> listStates(Schema input) {
      return List.of(new ListStateSchema("list", Schema.of(Field.of("v", type))));
    }

    @Override
    protected void process(HostKeyedBatch batch) {
      HostMapState map = batch.map("map");
      HostListState list = batch.list("list");
      for (int row = 0; row < batch.rowCount(); row++) {
        int key = batch.keyOf(row);
        Row mapKey = row(batch, "m", row);
        Row value = row(batch, "v", row);
        switch (batch.column("command").getInt(row)) {
          case 0, 1 -> map.put(key, mapKey, value);
          case 2 -> map.remove(key, mapKey);
          case 3 -> {
            Row found = map.get(key, mapKey);
            emit(batch, "get " + found);
            overwrite(found);
          }
          case 4 -> {
            TreeSet<String> texts = new TreeSet<>();
            map.entries(key).forEach((m, v) -> texts.add(m + "=" + v));
            map.entries(key).forEach((m, v) -> overwrite(v));
            emit(batch, "entries " + texts);
          }
          case 5 -> list.add(key, value);
          default -> {
            emit(batch, "list " + list.get(key));
            list.get(key).forEach(JavaValues::overwrite);
          }
        }
        overwrite(mapKey);
        overwrite(value);
      }
    }

    // Of its own: with other bytes, that of the next call is not changed.
    private Row row(HostKeyedBatch batch, String column, int row) {
      int kind = batch.column("kind").getInt(row);
      Object value = values.get(batch.column(column).getInt(row));
      Object own = value instanceof byte[] bytes ? bytes.clone() : value;
      return Row.ofKind(RowKind.fromByteValue((byte) kind), own);
    }

    private static void overwrite(Row row) {
      if (row != null && row.getField(0) instanceof byte[] bytes) {
        Arrays.fill(bytes, (byte) 7);
      }
    }

    private static void emit(HostKeyedBatch batch, String answer) {
      MapCommands.append(batch.output().column(0), answer);
    }
  }

  private static Stream<Arguments> valuesOfTypes() {
    LocalDateTime time = LocalDateTime.parse("1969-12-31T23:59:59.999888777");
    return Stream.of(
        arguments(DataType.BOOL, List.of(true, false)),
        arguments(DataType.INT8, List.of((byte) 1, (byte) 2)),
        arguments(DataType.INT16, List.of((short) 1, (short) 2)),
        arguments(DataType.INT32, List.of(1, 2)),
        arguments(DataType.INT64, List.of(1L, 2L)),
        arguments(DataType.FLOAT32, List.of(0f, -0f, Float.NaN, Float.intBitsToFloat(0x7fc0_0001))),
        arguments(
            DataType.FLOAT64,
            List.of(0d, -0d, Double.NaN, Double.longBitsToDouble(0x7ff8_0000_0000_0001L))),
        arguments(DataType.decimal(5, 2), decimals("1", "1.00", "1.004", "1.005", "1.01", "1e2")),
        arguments(DataType.decimal(38, 10), decimals("1", "1.00", "1e20", "1.00000000004")),
        arguments(DataType.DATE, List.of(LocalDate.EPOCH, LocalDate.EPOCH.minusDays(1))),
        arguments(
            DataType.TIME,
            Stream.of(0, 999_999, 1_000_000).map(n -> LocalTime.of(1, 2, 3, n)).toList()),
        arguments(DataType.timestamp(0), times(time)),
        arguments(DataType.timestamp(3), times(time)),
        arguments(DataType.timestamp(6), times(time)),
        arguments(DataType.timestamp(9), times(time)),
        arguments(
            DataType.timestamp(3, true),
            List.of(Instant.ofEpochSecond(0, 1), Instant.ofEpochSecond(0, 2), Instant.EPOCH)),
        arguments(DataType.STRING, List.of("", "?", "\ud83d", "\ude00", "😀", "x".repeat(20))),
        arguments(DataType.BINARY, List.of(new byte[] {1}, new byte[] {2}, new byte[20])));
  }

  private static List<BigDecimal> decimals(String... values) {
    return Stream.of(values).map(BigDecimal::new).toList();
  }

  private static List<LocalDateTime> times(LocalDateTime time) {
    return Stream.of(0, 1, 1_000, 1_000_000).map(time::minusNanos).toList();
  }

  @ParameterizedTest
  @MethodSource("valuesOfTypes")
  void resultsDoNotDependOnBatches(DataType type, List<Serializable> values) throws Exception {
    List<Serializable> all = new ArrayList<>(values);
    all.add(null);
    Job job = new Job(ROWS, List.of("k"), new JavaValues(type, all));
    List<List<Object>> rows = randomRows(all.size(), 200);
    List<String> inBatches = new ArrayList<>();
    List<String> rowByRow = new ArrayList<>();
    try (ProcessHarness harness = job.open(device)) {
      for (int row = 0; row < rows.size(); row += 40) {
        harness.send(0, rows.subList(row, row + 40));
        inBatches.addAll(harness.takeTexts());
      }
    }
    try (ProcessHarness harness = job.open(device)) {
      for (List<Object> row : rows) {
        rowByRow.addAll(harness.results(row));
      }
    }
    assertThat(inBatches).isEqualTo(rowByRow);
  }

  private List<List<Object>> randomRows(int values, int count) {
    Random random = seed.random();
    return Stream.generate(
            () ->
                List.<Object>of(
                    random.nextInt(2),
                    random.nextInt(COMMANDS),
                    random.nextInt(values),
                    random.nextInt(values),
                    random.nextInt(RowKind.values().length)))
        .limit(count)
        .toList();
  }

  @Test
  void decimalsWithTooManyDigitsAreRefused() {
    ExternalRows rows =
        new ExternalRows(
            Schema.of(Field.of("n", DataType.INT32), Field.of("d", DataType.decimal(2, 0))));
    assertThat(rows.asInColumns(Row.of(1, new BigDecimal("9.5"))))
        .isEqualTo(rows.asInColumns(Row.of(1, BigDecimal.TEN)));
    String message = "expected DECIMAL(2, 0) for 'd', got 100";
    assertThatThrownBy(() -> rows.asInColumns(Row.of(1, new BigDecimal(100))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
    Row named = Row.withNames();
    named.setField("d", new BigDecimal(100));
    named.setField("n", 1);
    assertThatThrownBy(() -> rows.asInColumns(named))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }
}
