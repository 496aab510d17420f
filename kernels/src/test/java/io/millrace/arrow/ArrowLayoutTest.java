// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.arrow.ArrowLayout.Integers;
import io.millrace.arrow.ArrowLayout.Operation;
import io.millrace.column.DataType;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RowCountTest;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The conversions on the process's device, compared with those on the host. */
class ArrowLayoutTest {
  private static final int MAX_ELEMENTS = 100_000;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private interface Conversion {
    void run(ArrowLayout layout, long target, long source);
  }

  private void assertSameOnBoth(long sourceBytes, long targetBytes, Conversion conversion) {
    byte[] bytes = new byte[Math.toIntExact(sourceBytes)];
    random.random().nextBytes(bytes);
    assertSameOnBoth(bytes, targetBytes, conversion);
  }

  private void assertSameOnBoth(byte[] bytes, long targetBytes, Conversion conversion) {
    assertSameOnBoth(bytes, targetBytes, conversion, targetBytes);
  }

  /**
   * @param comparedBytes number of bytes to compare from the start of the targets; the rest is
   *     undefined
   */
  private void assertSameOnBoth(
      byte[] bytes, long targetBytes, Conversion conversion, long comparedBytes) {
    try (Buffer source = Buffer.allocate(bytes.length, device.hostStream(), device.hostMemory());
        Buffer expected = Buffer.allocate(targetBytes, device.hostStream(), device.hostMemory());
        Buffer actual = Buffer.allocate(targetBytes, device.hostStream(), device.hostMemory());
        Buffer deviceSource = Buffer.allocate(bytes.length, device.stream(), device.memory());
        Buffer deviceTarget = Buffer.allocate(targetBytes, device.stream(), device.memory());
        AccessScope hostScope = AccessScope.on(device.hostStream());
        AccessScope scope = AccessScope.on(device.stream())) {
      long from = source.access(AccessMode.WRITE, hostScope);
      long to = expected.access(AccessMode.WRITE, hostScope);
      long result = actual.access(AccessMode.WRITE, hostScope);
      HostMemory.copyFromArray(from, bytes, 0, bytes.length);
      HostMemory.fill(to, targetBytes, (byte) 0);
      conversion.run(ArrowLayout.on(device.hostStream()), to, from);
      long deviceFrom = deviceSource.access(AccessMode.WRITE, scope);
      long deviceTo = deviceTarget.access(AccessMode.WRITE, scope);
      device.stream().copy(deviceFrom, from, bytes.length);
      device.stream().fill(deviceTo, (byte) 0, targetBytes);
      conversion.run(ArrowLayout.on(device.stream()), deviceTo, deviceFrom);
      device.stream().copy(result, deviceTo, targetBytes);
      device.stream().synchronize();
      assertThat(bytes(result, comparedBytes)).isEqualTo(bytes(to, comparedBytes));
    }
  }

  private static byte[] bytes(long address, long length) {
    byte[] bytes = new byte[Math.toIntExact(length)];
    HostMemory.copyToArray(bytes, 0, address, bytes.length);
    return bytes;
  }

  @RowCountTest
  void bitsAndBytesConvertBothWays(int rowCount) {
    int elements = Math.min(rowCount, MAX_ELEMENTS);
    byte[] booleans = new byte[elements];
    for (int i = 0; i < elements; i++) {
      booleans[i] = (byte) random.random().nextInt(2);
    }
    long words = (elements + 31L) / 32 * 4;
    assertSameOnBoth(
        booleans, words, (layout, target, source) -> layout.pack(target, source, elements));
    assertSameOnBoth(
        words, elements, (layout, target, source) -> layout.unpack(target, source, elements));
  }

  @RowCountTest
  void integersConvertBetweenAllWidths(int rowCount) {
    int elements = Math.min(rowCount, 3_000);
    for (int from : new int[] {1, 2, 4, 8, 16}) {
      for (int to : new int[] {4, 8, 16}) {
        for (boolean isSigned : new boolean[] {true, false}) {
          assertSameOnBoth(
              (long) elements * from,
              (long) elements * to,
              (layout, target, source) ->
                  layout.convert(target, to, new Integers(source, from, isSigned), elements));
        }
      }
    }
  }

  @Test
  void operationsRoundAndWrapAlike() {
    int elements = 10_000;
    for (Operation operation : Operation.values()) {
      for (long operand : new long[] {1, 1_000, 1_000_000}) {
        assertSameOnBoth(
            elements * 8L,
            elements * 8L,
            (layout, target, source) ->
                layout.convert(
                    target, 8, Integers.signed(source, 8), elements, operation, operand));
      }
    }
  }

  @Test
  void decimalsAreNarrowedAndRefusedAlike() {
    int elements = 3_000;
    for (int precision : new int[] {5, 9, 10, 18, 19, 38}) {
      DataType type = DataType.decimal(precision, 0);
      int width = type.id().byteWidth();
      for (int tooLarge : new int[] {0, 1, 100}) {
        byte[] source = decimals(elements, precision, tooLarge);
        for (boolean masked : new boolean[] {false, true}) {
          long values = width == 16 ? 0 : (long) elements * width;
          assertSameOnBoth(
              source,
              values + Long.BYTES,
              (layout, target, from) -> {
                long mask = masked ? from + elements * 16L : 0;
                ArrowDecimals.Limit limit = ArrowDecimals.Limit.of(type);
                layout.narrowDecimals(
                    values == 0 ? 0 : target + Long.BYTES,
                    width,
                    from,
                    elements,
                    mask,
                    limit,
                    target);
              },
              tooLarge == 0 ? values + Long.BYTES : Long.BYTES);
        }
      }
    }
  }

  /** Decimals of 128 bits within their precision, but for some, and a random mask behind them. */
  private byte[] decimals(int elements, int precision, int tooLarge) {
    BigInteger limit = BigInteger.TEN.pow(precision);
    ByteBuffer bytes =
        ByteBuffer.allocate(elements * 16 + elements / 8 + 8).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < elements; i++) {
      BigInteger value =
          switch (i % 4) {
            case 0 -> limit.subtract(BigInteger.ONE);
            case 1 -> limit.negate().add(BigInteger.ONE);
            default -> new BigInteger(126, random.random()).mod(limit);
          };
      put(bytes, value);
    }
    for (int i = 0; i < tooLarge; i++) {
      bytes.position(random.random().nextInt(elements) * 16);
      put(bytes, i % 2 == 0 ? limit : limit.negate());
    }
    byte[] mask = new byte[elements / 8 + 8];
    random.random().nextBytes(mask);
    bytes.position(elements * 16).put(mask);
    return bytes.array();
  }

  private static void put(ByteBuffer bytes, BigInteger value) {
    bytes.putLong(value.longValue()).putLong(value.shiftRight(Long.SIZE).longValue());
  }

  @Test
  void argumentsHaveTheFieldsOfTheKernels() {
    CudaStructures cuda = CudaStructures.ofSources();
    assertThat(CudaArrowLayout.Arguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("ArrowLayoutArguments").fields());
    assertThat(CudaArrowLayout.DecimalArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("ArrowDecimalArguments").fields());
  }

  @Test
  void argumentsHaveTheSizeThatTheKernelsExpect() {
    if (device.isCuda()) {
      assertThat(device.device().loadModule("arrow_layout").constant("sizeof_ArrowLayoutArguments"))
          .isEqualTo(CudaArrowLayout.Arguments.LAYOUT.bytes());
      assertThat(
              device.device().loadModule("arrow_layout").constant("sizeof_ArrowDecimalArguments"))
          .isEqualTo(CudaArrowLayout.DecimalArguments.LAYOUT.bytes());
    }
  }
}
