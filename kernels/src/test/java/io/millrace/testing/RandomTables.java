// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Random tables of any schema, with nulls and with the extreme values of each type. */
public final class RandomTables {
  private static final int MAX_LENGTH = 6;
  private static final List<String> STRINGS =
      List.of("", "a", "ä", "€", "😀", "ı", "\0", "key", "a rather long string ".repeat(8));
  private static final double[] DOUBLES = {
    0.0,
    -0.0,
    Double.NaN,
    Double.MIN_VALUE,
    Double.MAX_VALUE,
    Double.NEGATIVE_INFINITY,
    Double.POSITIVE_INFINITY
  };
  private static final float[] FLOATS = {
    0.0f,
    -0.0f,
    Float.NaN,
    Float.MIN_VALUE,
    Float.MAX_VALUE,
    Float.NEGATIVE_INFINITY,
    Float.POSITIVE_INFINITY
  };

  private final Random random;
  private final double nullProbability;

  /**
   * @param nullProbability the probability, from 0 to 1, that a nullable value is null
   */
  public RandomTables(Random random, double nullProbability) {
    this.random = random;
    this.nullProbability = nullProbability;
  }

  /** A table in the memory of the test's device; the caller closes it. */
  public Table generate(Schema schema, int rowCount, DeviceExtension device) {
    return TableBuilder.ofRows(schema, rows(schema, rowCount)).build(device);
  }

  /** As {@link #generate}, but a slice from the middle of a larger table. */
  public Table generateSliced(Schema schema, int rowCount, DeviceExtension device) {
    int before = 1 + random.nextInt(70);
    int after = random.nextInt(70);
    try (Table whole = generate(schema, before + rowCount + after, device)) {
      return whole.slice(before, rowCount);
    }
  }

  /** The rows of a random table. */
  public List<List<Object>> rows(Schema schema, int rowCount) {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < rowCount; i++) {
      rows.add(values(schema.fields()));
    }
    return rows;
  }

  private List<Object> values(List<DataType.Field> fields) {
    List<Object> values = new ArrayList<>();
    for (DataType.Field field : fields) {
      boolean isNull = field.nullable() && random.nextDouble() < nullProbability;
      values.add(isNull ? null : value(field.type()));
    }
    return values;
  }

  /** A non-null value of {@code type}. */
  public Object value(DataType type) {
    return switch (type.id()) {
      case BOOL -> random.nextBoolean();
      case INT8 -> (byte) integer(Byte.MIN_VALUE, Byte.MAX_VALUE);
      case INT16 -> (short) integer(Short.MIN_VALUE, Short.MAX_VALUE);
      case INT32 -> (int) integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
      case INT64 -> integer(Long.MIN_VALUE, Long.MAX_VALUE);
      case FLOAT32 -> oneIn(4) ? FLOATS[random.nextInt(FLOATS.length)] : random.nextFloat() * 1e6f;
      case FLOAT64 -> oneIn(4) ? DOUBLES[random.nextInt(DOUBLES.length)] : random.nextGaussian();
      case DECIMAL32, DECIMAL64, DECIMAL128 -> decimal(type);
      case DATE -> LocalDate.ofEpochDay(integer(Integer.MIN_VALUE, Integer.MAX_VALUE));
      case TIME -> LocalTime.ofNanoOfDay(random.nextInt(86_400_000) * 1_000_000L);
      case TIMESTAMP_MILLIS ->
          timestamp(type, Instant.ofEpochMilli(integer(Long.MIN_VALUE, Long.MAX_VALUE)));
      case TIMESTAMP_MICROS ->
          timestamp(type, instantOfMicros(integer(Long.MIN_VALUE, Long.MAX_VALUE)));
      case TIMESTAMP_NANOS ->
          timestamp(
              type,
              Instant.ofEpochMilli(integer(Long.MIN_VALUE, Long.MAX_VALUE))
                  .plusNanos(random.nextInt(1_000_000)));
      case STRING -> string();
      case BINARY -> binary();
      case LIST -> list(type);
      case STRUCT -> values(type.fields());
      case DICTIONARY -> value(type.fields().get(0).type());
    };
  }

  private boolean oneIn(int times) {
    return random.nextInt(times) == 0;
  }

  // Small values make keys that occur several times.
  private long integer(long minimum, long maximum) {
    return switch (random.nextInt(8)) {
      case 0 -> minimum;
      case 1 -> maximum;
      case 2, 3 -> random.longs(1, minimum, maximum).sum();
      default -> random.nextInt(20) - 10;
    };
  }

  private BigDecimal decimal(DataType type) {
    BigInteger limit = BigInteger.TEN.pow(type.precision());
    BigInteger magnitude =
        oneIn(4)
            ? limit.subtract(BigInteger.ONE)
            : new BigInteger(limit.bitLength() + 8, random).mod(limit);
    return new BigDecimal(random.nextBoolean() ? magnitude : magnitude.negate(), type.scale());
  }

  private static Instant instantOfMicros(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, 1_000_000), Math.floorMod(micros, 1_000_000) * 1_000L);
  }

  private static Object timestamp(DataType type, Instant instant) {
    return type.withTimeZone() ? instant : LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
  }

  private String string() {
    return oneIn(4)
        ? STRINGS.get(random.nextInt(STRINGS.size()))
        : random
            .ints(random.nextInt(MAX_LENGTH + 1), 'a', 'e')
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
  }

  private ByteBuffer binary() {
    byte[] bytes = new byte[random.nextInt(MAX_LENGTH + 1)];
    random.nextBytes(bytes);
    return ByteBuffer.wrap(bytes);
  }

  private List<Object> list(DataType type) {
    List<Object> elements = new ArrayList<>();
    for (int i = random.nextInt(MAX_LENGTH + 1); i > 0; i--) {
      elements.addAll(values(type.fields()));
    }
    return elements;
  }
}
