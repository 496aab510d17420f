// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.format.WrittenRecords;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** FLOAT and DOUBLE as text, against exact arithmetic. */
class FloatTextTest {
  private static final int NUMBERS = 20_000;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private List<String> texts(DataType type, List<? extends Number> numbers) {
    Schema schema = Schema.of(new Field("v", type, false));
    WritePlan.Builder plan = new WritePlan.Builder(schema, ',');
    plan.scalar(plan.nextColumn(), type, false);
    try (Table table = new TableBuilder().column(schema.field(0), numbers).build(device);
        PlanWriter writer = new PlanWriter(plan.build(), device.stream(), device.memory())) {
      return WrittenRecords.of(writer, table, device).stream()
          .map(record -> new String(record, StandardCharsets.US_ASCII))
          .toList();
    }
  }

  private void assertShortest(DataType type, List<? extends Number> numbers) {
    List<String> texts = texts(type, numbers);
    for (int i = 0; i < numbers.size(); i++) {
      assertThat(texts.get(i)).as("number %d", i).isEqualTo(ReferenceText.shortest(numbers.get(i)));
    }
  }

  @Test
  void theFormIsThatOfJava() {
    List<Double> numbers =
        List.of(
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.1,
            0.001,
            0.00999,
            0.00099,
            9_999_999.0,
            1e7,
            123_456.789,
            1e-5,
            100.0,
            1e22,
            1.7976931348623157e308,
            2.2250738585072014e-308,
            4.9e-324,
            Double.NaN,
            Double.NEGATIVE_INFINITY);
    List<String> texts = texts(DataType.FLOAT64, numbers);
    assertThat(texts).isEqualTo(numbers.stream().map(String::valueOf).toList());
  }

  @Test
  void digitsAreTheFewest() {
    List<Double> doubles = Stream.of("2E23", "8.41E21", "9.4E-323").map(Double::valueOf).toList();
    assertThat(texts(DataType.FLOAT64, doubles)).containsExactly("2.0E23", "8.41E21", "9.4E-323");
    assertThat(texts(DataType.FLOAT32, List.of(0.1f, 0x1p25f, Float.MIN_VALUE)))
        .containsExactly("0.1", "3.3554432E7", "1.4E-45");
  }

  @Test
  void powersOfTwoAndTheirNeighbours() {
    List<Double> doubles = new ArrayList<>();
    for (int exponent = Double.MIN_EXPONENT - 52; exponent <= Double.MAX_EXPONENT; exponent++) {
      double power = Math.scalb(1.0, exponent);
      doubles.addAll(List.of(power, Math.nextDown(power), Math.nextUp(power)));
    }
    assertShortest(DataType.FLOAT64, doubles);
    List<Float> floats = new ArrayList<>();
    for (int exponent = Float.MIN_EXPONENT - 23; exponent <= Float.MAX_EXPONENT; exponent++) {
      float power = Math.scalb(1.0f, exponent);
      floats.addAll(List.of(power, Math.nextDown(power), Math.nextUp(power)));
    }
    assertShortest(DataType.FLOAT32, floats);
  }

  @Test
  void powersOfTenAndTheirNeighbours() {
    List<Double> doubles = new ArrayList<>();
    for (int exponent = -323; exponent <= 308; exponent++) {
      double power = Double.parseDouble("1e" + exponent);
      doubles.addAll(List.of(power, Math.nextDown(power), Math.nextUp(power), power * 5));
    }
    assertShortest(DataType.FLOAT64, doubles.stream().filter(Double::isFinite).toList());
  }

  @Test
  void randomBits() {
    Random bits = random.random();
    assertShortest(
        DataType.FLOAT64,
        bits.longs(NUMBERS).mapToObj(Double::longBitsToDouble).filter(Double::isFinite).toList());
    assertShortest(
        DataType.FLOAT32,
        bits.ints(NUMBERS).mapToObj(Float::intBitsToFloat).filter(Float::isFinite).toList());
  }

  @Test
  void randomDecimals() {
    Random digits = random.random();
    List<Double> doubles = new ArrayList<>();
    for (int i = 0; i < NUMBERS; i++) {
      double scale = Math.pow(10, digits.nextInt(12));
      doubles.add(digits.nextInt(1_000_000_000) / scale);
    }
    assertShortest(DataType.FLOAT64, doubles);
  }
}
