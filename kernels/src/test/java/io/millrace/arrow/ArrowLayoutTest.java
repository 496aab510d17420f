package io.millrace.arrow;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.arrow.ArrowLayout.ArgumentsLayout;
import io.millrace.arrow.ArrowLayout.Integers;
import io.millrace.arrow.ArrowLayout.Operation;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RowCountTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The conversions on the process's device, compared with those on the host. */
class ArrowLayoutTest {
  private static final int MAXIMUM_ELEMENTS = 100_000;

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
      conversion.run(new ArrowLayout(device.hostStream()), to, from);
      long deviceFrom = deviceSource.access(AccessMode.WRITE, scope);
      long deviceTo = deviceTarget.access(AccessMode.WRITE, scope);
      device.stream().copy(deviceFrom, from, bytes.length);
      device.stream().fill(deviceTo, (byte) 0, targetBytes);
      conversion.run(new ArrowLayout(device.stream()), deviceTo, deviceFrom);
      device.stream().copy(result, deviceTo, targetBytes);
      device.stream().synchronize();
      assertThat(bytes(result, targetBytes)).isEqualTo(bytes(to, targetBytes));
    }
  }

  private static byte[] bytes(long address, long length) {
    byte[] bytes = new byte[Math.toIntExact(length)];
    HostMemory.copyToArray(bytes, 0, address, bytes.length);
    return bytes;
  }

  @RowCountTest
  void bitsAndBytesConvertBothWays(int rowCount) {
    int elements = Math.min(rowCount, MAXIMUM_ELEMENTS);
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
  void argumentsHaveTheSizeThatTheKernelsExpect() {
    if (device.isCuda()) {
      assertThat(device.device().loadModule("arrow_layout").constant("sizeof_ArrowLayoutArguments"))
          .isEqualTo(ArgumentsLayout.BYTES);
    }
  }
}
