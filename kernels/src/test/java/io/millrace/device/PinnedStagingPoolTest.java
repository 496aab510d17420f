// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class PinnedStagingPoolTest {
  private final PinnedStagingPool pool = new PinnedStagingPool(Device.current());

  @Test
  void capacitiesArePowersOfTwoFromAPage() {
    long[][] capacities = {{0, 4096}, {1, 4096}, {4096, 4096}, {4097, 8192}, {100_000, 131_072}};
    for (long[] expected : capacities) {
      try (StagingBuffer buffer = pool.acquire(expected[0])) {
        assertThat(buffer.capacity()).isEqualTo(expected[1]);
        assertThat(buffer.address() % 64).isZero();
        HostMemory.fill(buffer.address(), buffer.capacity(), (byte) 7);
        assertThat(pool.heldBytes()).isEqualTo(expected[1]);
      }
    }
    pool.trim();
  }

  @Test
  void buffersAreReused() {
    StagingBuffer first = pool.acquire(5_000);
    StagingBuffer second = pool.acquire(5_000);
    assertThat(second.address()).isNotEqualTo(first.address());
    first.close();
    try (StagingBuffer third = pool.acquire(8_000)) {
      assertThat(third.address()).isEqualTo(first.address());
    }
    second.close();
    assertThat(pool.pinnedBytes()).isEqualTo(2 * 8192);
    assertThat(pool.heldBytes()).isZero();
    pool.trim();
    assertThat(pool.pinnedBytes()).isZero();
  }

  @Test
  void closingTwiceGivesTheBufferBackOnce() {
    StagingBuffer buffer = pool.acquire(1);
    buffer.close();
    buffer.close();
    try (StagingBuffer first = pool.acquire(1);
        StagingBuffer second = pool.acquire(1)) {
      assertThat(first.address()).isNotEqualTo(second.address());
    }
    pool.trim();
  }

  @Test
  void aBufferClosedAfterAnEventIsLentAgainBehindIt() {
    DeferredDevice device = new DeferredDevice();
    PinnedStagingPool deferred = device.stagingPool();
    try (DeviceStream stream = device.createStream()) {
      StagingBuffer first = deferred.acquire(1);
      stream.fill(first.address(), (byte) 1, 1);
      first.closeAfter(stream.recordEvent());
      try (StagingBuffer second = deferred.acquire(1)) {
        assertThat(second.address()).isNotEqualTo(first.address());
        deferred.trim();
        assertThat(deferred.heldBytes()).isEqualTo(2 * 4096);
        stream.synchronize();
        try (StagingBuffer third = deferred.acquire(1)) {
          assertThat(third.address()).isEqualTo(first.address());
        }
      }
    }
    deferred.trim();
    assertThat(deferred.pinnedBytes()).isZero();
  }

  @Test
  void trimKeepsWhatIsHeld() {
    try (StagingBuffer held = pool.acquire(1)) {
      pool.acquire(10_000).close();
      pool.trim();
      assertThat(pool.pinnedBytes()).isEqualTo(held.capacity());
    }
    pool.trim();
  }

  @Test
  void aRefusedRequestHoldsNothing() {
    assertThatThrownBy(() -> pool.acquire(1L << 55)).isInstanceOf(GpuException.class);
    assertThat(pool.heldBytes()).isZero();
    assertThat(pool.pinnedBytes()).isZero();
  }
}
