// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.ParsedRecords;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Numbers of JSON become the floating-point numbers that Java makes of them. */
class JsonNumbersTest {
  private static final Schema SCHEMA =
      Schema.of(Field.of("d", DataType.FLOAT64), Field.of("f", DataType.FLOAT32));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private void assertNumbers(List<String> numbers) {
    assertNumbers("d", numbers, Double::parseDouble, 0);
    assertNumbers("f", numbers, Float::parseFloat, 1);
  }

  private void assertNumbers(
      String column, List<String> numbers, Function<String, Number> parse, int index) {
    List<String> finite =
        numbers.stream().filter(n -> Double.isFinite(parse.apply(n).doubleValue())).toList();
    StringBuilder lines = new StringBuilder();
    finite.forEach(n -> lines.append("{\"" + column + "\":" + n + "}\n"));
    try (ParsedRecords parsed = JsonLines.read(SCHEMA, lines.toString(), device)) {
      assertThat(parsed.malformed()).isEmpty();
      List<Object> values = device.rows(parsed.table()).stream().map(r -> r.get(index)).toList();
      for (int i = 0; i < finite.size(); i++) {
        assertThat(values.get(i)).as(finite.get(i)).isEqualTo(parse.apply(finite.get(i)));
      }
    }
    String tooLarge = "{\"" + column + "\":%s}\n";
    List<String> infinite = numbers.stream().filter(n -> !finite.contains(n)).distinct().toList();
    StringBuilder others = new StringBuilder();
    infinite.forEach(n -> others.append(String.format(tooLarge, n)));
    try (ParsedRecords parsed = JsonLines.read(SCHEMA, others.toString(), device)) {
      assertThat(parsed.malformed()).hasSameSizeAs(infinite);
    }
  }

  @Test
  void edgesAreExact() {
    assertNumbers(
        List.of(
            "0",
            "-0",
            "0.0e400",
            "1e-400",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880",
            "9007199254740993",
            "9007199254740992.99999999999999999999999",
            "9007199254740993.0000000000000000000000001",
            "123456789012345678901234567890e-30",
            "5e-324",
            "3.4028235677973366e38",
            "3.4028234663852886e38",
            "1.1754943508222875e-38",
            "1.401298464324817e-45",
            "7.006492321624085e-46",
            "7.006492321624086e-46",
            "8388608.5",
            "16777217",
            "16777219",
            "1e22",
            "1e23",
            "8.5e22",
            "6.631236846766476e-316"));
  }

  @Test
  void manyNumbersThatTheLastDigitsDecideAreExact() {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < 2500; i++) {
      texts.add("9007199254740993.000000000000" + (i % 2 == 0 ? "" : "1"));
    }
    assertNumbers(texts);
  }

  @Test
  void randomNumbersAreExact() {
    Random numbers = random.random();
    List<String> texts = new ArrayList<>();
    IntStream.range(0, 3000).forEach(i -> texts.add(randomNumber(numbers)));
    assertNumbers(texts);
  }

  private static String randomNumber(Random numbers) {
    double value = Double.longBitsToDouble(numbers.nextLong());
    if (!Double.isFinite(value)) {
      return "1";
    }
    return switch (numbers.nextInt(5)) {
      case 0 -> Double.toString(value);
      case 1 -> Float.toString((float) numbers.nextGaussian());
      // Half way between two neighbours, or a little beside it.
      case 2 -> {
        BigDecimal half =
            new BigDecimal(value)
                .add(new BigDecimal(Math.nextUp(value)))
                .divide(BigDecimal.valueOf(2));
        yield (numbers.nextBoolean() ? half : half.add(half.ulp())).toString();
      }
      case 3 -> {
        float single = (float) numbers.nextGaussian() * 1e-3f;
        yield new BigDecimal(single)
            .add(new BigDecimal(Math.nextUp(single)))
            .divide(BigDecimal.valueOf(2))
            .toPlainString();
      }
      default ->
          numbers.nextLong(Long.MAX_VALUE)
              + "."
              + numbers.nextLong(Long.MAX_VALUE)
              + "e"
              + (numbers.nextInt(640) - 340);
    };
  }
}
