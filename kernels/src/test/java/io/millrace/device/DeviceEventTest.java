// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Events of streams, which the device uses again and which several users may share. */
class DeviceEventTest {
  private static final int BYTES = 16 << 20;
  private static final int ROUNDS = 60;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final Device processor = Device.current();

  @Test
  void aStreamWaitsForTheWorkBeforeAnEventAlsoIfTheEventWasUsedBefore() {
    long memory = processor.allocate(BYTES);
    long copies = processor.allocatePinned((long) ROUNDS * Integer.BYTES);
    try (DeviceStream writer = processor.createStream();
        DeviceStream reader = processor.createStream()) {
      for (int round = 0; round < ROUNDS; round++) {
        reader.recordEvent().close();
        writer.waitFor(reader);
        writer.fill(memory, (byte) round, BYTES);
        try (DeviceEvent written = writer.recordEvent()) {
          reader.waitFor(written);
        }
        long last = memory + BYTES - Integer.BYTES;
        reader.copy(copies + (long) round * Integer.BYTES, last, Integer.BYTES);
      }
      reader.synchronize();
      for (int round = 0; round < ROUNDS; round++) {
        assertThat(HostMemory.getInt(copies + (long) round * Integer.BYTES))
            .as("what round %d reads", round)
            .isEqualTo(round * 0x01010101);
      }
    } finally {
      processor.freePinned(copies);
      processor.free(memory);
    }
  }

  @Test
  void eachUserOfAnEventOfAnIdleStreamClosesItOnce() {
    try (DeviceStream stream = processor.createStream()) {
      List<DeviceEvent> events = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        events.add(stream.recordEvent());
      }
      events.get(0).close();
      events.get(2).synchronize();
      assertThat(events.get(1).isReached()).isTrue();
      events.get(1).close();
      try (DeviceEvent again = stream.recordEvent()) {
        again.synchronize();
      }
      events.get(2).close();
    }
  }

  @Test
  void aClosedStreamHasNoEvents() {
    assumeTrue(processor.kind() == DeviceKind.CUDA, "streams of the host need not be closed");
    DeviceStream stream = processor.createStream();
    stream.recordEvent().close();
    stream.close();
    assertThatThrownBy(stream::recordEvent).isInstanceOf(IllegalStateException.class);
  }
}
