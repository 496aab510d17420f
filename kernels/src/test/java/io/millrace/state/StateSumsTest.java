// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateSchema;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums of several words, and sums that depend on the order of the rows. */
class StateSumsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @ParameterizedTest
  @ValueSource(ints = {9, 18, 19, 38})
  void sumsOfDecimalsAreExactBeyondTheirDigits(int digits) {
    Schema input =
        Schema.of(
            new Field("k", DataType.INT32, false),
            Field.of("v", DataType.decimal(digits, 2)),
            new Field("kind", DataType.INT8, false));
    StateSchema schema =
        new StateSchema(
            input,
            List.of(0),
            List.of(new Accumulator("sum", Function.SUM, 1), Accumulator.countRows("rows")),
            2);
    BigInteger most = BigInteger.TEN.pow(digits).subtract(BigInteger.ONE);
    try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
      StateModel model = new StateModel(schema);
      List<List<Object>> present = new ArrayList<>();
      for (int batch = 0; batch < 30; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        boolean grows = batch < 15;
        for (int i = 0; i < 200; i++) {
          boolean takesBack = !present.isEmpty() && (i % 3 == 0 ? grows : !grows);
          int key = random.random().nextInt(4);
          BigDecimal value = new BigDecimal(nearOneSide(most, key), 2);
          List<Object> row =
              takesBack
                  ? present.remove(random.random().nextInt(present.size()))
                  : List.of(key, value);
          if (!takesBack) {
            present.add(row);
          }
          ChangeKind kind = takesBack ? ChangeKind.DELETE : ChangeKind.INSERT;
          rows.add(List.of(row.get(0), row.get(1), kind.value()));
        }
        model.assertUpdate(table, rows, device);
      }
    }
  }

  // A block of threads takes shared memory for each accumulator: as many bytes as it has without
  // asking with 24.
  @Test
  void tablesOfEachNumberOfSums() {
    Schema input = Schema.of(new Field("k", DataType.INT32, false), Field.of("v", DataType.INT64));
    List<Accumulator> accumulators = new ArrayList<>();
    for (int count = 1; count <= 48; count++) {
      accumulators.add(new Accumulator("sum" + count, Function.SUM, 1));
      StateSchema schema = new StateSchema(input, List.of(0), accumulators, StateSchema.NO_KINDS);
      try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
        StateModel model = new StateModel(schema);
        model.assertUpdate(table, List.of(List.of(1, 5L), List.of(2, 6L), List.of(1, 7L)), device);
      }
    }
  }

  static List<DataType> floatingPoint() {
    return List.of(DataType.FLOAT32, DataType.FLOAT64);
  }

  @ParameterizedTest
  @MethodSource("floatingPoint")
  void floatingPointNumbersAreAddedInTheOrderOfRows(DataType type) {
    assertFloatingPointNumbers(type, false);
  }

  @ParameterizedTest
  @MethodSource("floatingPoint")
  void keysBeginAgainWhenTheyHaveNoCountedRows(DataType type) {
    assertFloatingPointNumbers(type, true);
  }

  private void assertFloatingPointNumbers(DataType type, boolean isCounted) {
    Schema input =
        Schema.of(
            new Field("k", DataType.INT32, false),
            Field.of("v", type),
            new Field("w", type, false),
            new Field("kind", DataType.INT8, false),
            Field.of("counted", DataType.INT32));
    List<Accumulator> accumulators =
        new ArrayList<>(
            List.of(
                new Accumulator("sum", Function.SUM, 1),
                new Accumulator("values", Function.COUNT, 1),
                isCounted ? Accumulator.countRows("rows", 4) : Accumulator.countRows("rows"),
                new Accumulator("sum2", Function.SUM, 2)));
    if (type.equals(DataType.FLOAT64)) {
      accumulators.add(1, new Accumulator("m2", Function.M2, 1));
      accumulators.add(new Accumulator("m2 of 2", Function.M2, 2));
    }
    for (int kindColumn : new int[] {StateSchema.NO_KINDS, 3}) {
      StateSchema schema = new StateSchema(input, List.of(0), accumulators, kindColumn);
      try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
        StateModel model = new StateModel(schema);
        List<List<Object>> present = new ArrayList<>();
        for (int rows : new int[] {1, 31, 33, 200, 5_000, 70_000}) {
          model.assertUpdate(
              table, floatingPointChanges(type, rows, present, kindColumn >= 0), device);
        }
      }
    }
  }

  @Test
  void firstAndLastValuesAreThoseInTheOrderOfRows() {
    List<DataType> types =
        List.of(
            DataType.INT8,
            DataType.INT16,
            DataType.INT32,
            DataType.INT64,
            DataType.FLOAT32,
            DataType.FLOAT64,
            DataType.decimal(12, 2),
            DataType.timestamp(6));
    List<Field> fields = new ArrayList<>(List.of(new Field("k", DataType.INT32, false)));
    List<Accumulator> accumulators = new ArrayList<>();
    for (int i = 0; i < types.size(); i++) {
      fields.add(new Field("v" + i, types.get(i), i % 2 == 0));
      accumulators.add(new Accumulator("first" + i, Function.FIRST, i + 1));
      accumulators.add(new Accumulator("values" + i, Function.COUNT, i + 1));
      accumulators.add(new Accumulator("last" + i, Function.LAST, i + 1));
    }
    StateSchema schema =
        new StateSchema(new Schema(fields), List.of(0), accumulators, StateSchema.NO_KINDS);
    RandomTables values = new RandomTables(random.random(), 0.3);
    try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
      StateModel model = new StateModel(schema);
      for (int count : new int[] {1, 33, 200, 5_000}) {
        List<List<Object>> rows = new ArrayList<>();
        for (List<Object> row : values.rows(schema.input(), count)) {
          List<Object> keyed = new ArrayList<>(row);
          keyed.set(0, random.random().nextInt(random.random().nextInt(3) == 0 ? 300 : 20));
          rows.add(keyed);
        }
        model.assertUpdate(table, rows, device);
      }
    }
  }

  // Most rows have few keys, of which some lose all rows; the others have a key of their own.
  private List<List<Object>> floatingPointChanges(
      DataType type, int count, List<List<Object>> present, boolean takesBack) {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      boolean isRetraction = takesBack && !present.isEmpty() && random.random().nextInt(9) < 4;
      List<Object> row;
      if (isRetraction) {
        int last = present.size() - 1;
        Collections.swap(present, random.random().nextInt(last + 1), last);
        row = present.remove(last);
      } else {
        int key = random.random().nextInt(random.random().nextInt(3) == 0 ? 3_000 : 40);
        Integer counted = random.random().nextInt(3) == 0 ? null : Integer.valueOf(1);
        row = Arrays.asList(key, key % 3 == 0 ? null : number(type), number(type), counted);
        present.add(row);
      }
      List<Object> change = new ArrayList<>(row.subList(0, 3));
      change.add((isRetraction ? ChangeKind.DELETE : ChangeKind.INSERT).value());
      change.add(row.get(3));
      rows.add(change);
    }
    return rows;
  }

  private Object number(DataType type) {
    double number =
        switch (random.random().nextInt(12)) {
          case 0 -> -0.0;
          case 1 -> 1e30 * random.random().nextGaussian();
          case 2 -> random.random().nextInt(2_000) == 0 ? Double.NaN : 1e-40;
          case 3 -> random.random().nextInt(2_000) == 0 ? Double.POSITIVE_INFINITY : 0.1;
          default -> random.random().nextGaussian();
        };
    return type.equals(DataType.FLOAT32) ? (Object) (float) number : (Object) number;
  }

  // Mostly large numbers, of one sign for keys 0 and 1.
  private BigInteger nearOneSide(BigInteger most, int key) {
    BigInteger value = most.subtract(BigInteger.valueOf(random.random().nextInt(3)));
    boolean isNegative = key == 0 || (key > 1 && random.random().nextBoolean());
    return isNegative ? value.negate() : value;
  }
}
