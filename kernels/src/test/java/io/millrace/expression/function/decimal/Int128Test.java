// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testing.RandomExtension;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class Int128Test {
  private static final int CASES = 200_000;
  private static final BigInteger LIMIT = BigInteger.ONE.shiftLeft(127);

  @RegisterExtension final RandomExtension randomness = new RandomExtension();
  private final Int128 number = new Int128();
  private Random random;

  @BeforeEach
  void startRandomness() {
    random = randomness.random();
  }

  @Test
  void dividesByAnyPositiveLong() {
    for (int i = 0; i < CASES; i++) {
      BigInteger dividend = randomValue().abs();
      long divisor = Math.max(1, randomLong() & Long.MAX_VALUE);
      set(dividend);
      BigInteger[] expected = dividend.divideAndRemainder(BigInteger.valueOf(divisor));
      assertThat(number.divide(divisor))
          .as("%s mod %s", dividend, divisor)
          .isEqualTo(expected[1].longValue());
      assertThat(value()).as("%s / %s", dividend, divisor).isEqualTo(expected[0]);
    }
  }

  @ParameterizedTest
  @EnumSource
  void dropsDigits(DecimalRounding rounding) {
    for (int i = 0; i < CASES; i++) {
      BigInteger before = randomValue();
      int digits = random.nextInt(19);
      set(before);
      number.dropDigits(digits, rounding);
      assertThat(value())
          .as("%s without %d digits, %s", before, digits, rounding)
          .isEqualTo(new BigDecimal(before, digits).setScale(0, rounding.mode()).unscaledValue());
    }
  }

  @Test
  void addsWithinItsBits() {
    Int128 other = new Int128();
    for (int i = 0; i < CASES; i++) {
      BigInteger a = randomValue();
      BigInteger b = randomValue();
      BigInteger sum = a.add(b);
      set(a);
      other.set(b.longValue(), b.shiftRight(Long.SIZE).longValue());
      boolean fits = sum.bitLength() < 128;
      assertThat(number.add(other)).as("%s + %s", a, b).isEqualTo(fits);
      assertThat(value()).isEqualTo(fits ? sum : a);
      assertThat(Integer.signum(number.compareTo(other))).isEqualTo((fits ? sum : a).compareTo(b));
    }
  }

  @Test
  void countsDigits() {
    for (int precision = 1; precision <= 38; precision++) {
      BigInteger power = BigInteger.TEN.pow(precision);
      set(power.subtract(BigInteger.ONE));
      assertThat(number.exceeds(precision)).isFalse();
      set(power);
      assertThat(number.exceeds(precision)).isTrue();
      set(power.negate());
      assertThat(number.exceeds(precision)).isTrue();
      number.setPowerOfTen(precision);
      assertThat(value()).isEqualTo(power);
    }
  }

  @Test
  void appendsZerosToWhatALongHolds() {
    for (int i = 0; i < CASES; i++) {
      long before = randomLong();
      int digits = random.nextInt(25);
      number.set(before);
      boolean appends = digits == 0 || (digits <= 18 && before != Long.MIN_VALUE);
      assertThat(number.appendZeros(digits)).isEqualTo(appends);
      BigInteger expected = BigInteger.valueOf(before);
      assertThat(value())
          .isEqualTo(appends ? expected.multiply(BigInteger.TEN.pow(digits)) : expected);
    }
  }

  private void set(BigInteger value) {
    number.set(value.longValue(), value.shiftRight(Long.SIZE).longValue());
  }

  private BigInteger value() {
    return BigInteger.valueOf(number.high())
        .shiftLeft(Long.SIZE)
        .add(new BigInteger(Long.toUnsignedString(number.low())));
  }

  /** Many values have runs of equal bits, which expose errors in carries and estimated digits. */
  private long randomLong() {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextLong() >> random.nextInt(Long.SIZE);
      case 1 -> -1L >>> random.nextInt(Long.SIZE) << random.nextInt(Long.SIZE);
      case 2 -> (1L << random.nextInt(Long.SIZE)) + random.nextInt(3) - 1;
      default -> random.nextLong();
    };
  }

  private BigInteger randomValue() {
    BigInteger low = new BigInteger(Long.toUnsignedString(randomLong()));
    BigInteger value = BigInteger.valueOf(randomLong()).shiftLeft(Long.SIZE).add(low);
    return value.shiftRight(random.nextInt(100)).max(LIMIT.negate().add(BigInteger.ONE));
  }
}
