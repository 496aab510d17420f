// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.DeferredDevice;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PoolMemoryResourceTest {
  private static final long PIECE = 1 << 20;
  private static final long GUARD = 256;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private TrackingResourceAdaptor upstream;
  private PoolMemoryResource pool;
  private DeviceStream stream;
  private DeviceStream otherStream;

  private record Allocation(long address, long bytes, DeviceStream stream) {}

  @BeforeEach
  void makePool() {
    // The streams of the host have one list of free blocks.
    Device pooled = device.isCuda() ? device.device() : new DeferredDevice();
    upstream = new TrackingResourceAdaptor(new CudaMemoryResource(pooled));
    pool =
        new PoolMemoryResource(
            new LimitingResourceAdaptor(upstream, 4 * PIECE), PIECE, Long.MAX_VALUE);
    stream = pooled.createStream();
    otherStream = pooled.createStream();
  }

  @AfterEach
  void trim() {
    pool.trim(stream);
    stream.close();
    otherStream.close();
    assertThat(pool.heldBytes()).isZero();
    assertThat(pool.reservedBytes()).isZero();
    assertThat(upstream.heldBytes()).isZero();
  }

  @Test
  void aFreedBlockIsReusedByItsStream() {
    long first = pool.allocate(1_000, stream);
    pool.free(first, 1_000, stream);
    long second = pool.allocate(1_024, stream);
    assertThat(second).isEqualTo(first);
    assertThat(pool.heldBytes()).isEqualTo(1_024);
    assertThat(pool.reservedBytes()).isEqualTo(PIECE);
    pool.free(second, 1_024, stream);
  }

  @Test
  void freedNeighboursMakeOneBlockAgain() {
    List<Long> blocks = new ArrayList<>();
    long bytes = (PIECE - GUARD) / 4 & -256;
    for (int i = 0; i < 4; i++) {
      blocks.add(pool.allocate(bytes, stream));
    }
    for (int i : new int[] {1, 3, 0, 2}) {
      pool.free(blocks.get(i), bytes, stream);
    }
    long whole = pool.allocate(4 * bytes, stream);
    assertThat(whole).isEqualTo(blocks.get(0));
    assertThat(pool.reservedBytes()).isEqualTo(PIECE);
    pool.free(whole, 4 * bytes, stream);
  }

  @Test
  void anotherStreamTakesAFreedBlockBeforeThePoolGrows() {
    long first = pool.allocate(PIECE - GUARD, stream);
    pool.free(first, PIECE - GUARD, stream);
    long second = pool.allocate(PIECE - GUARD, otherStream);
    assertThat(second).isEqualTo(first);
    assertThat(pool.reservedBytes()).isEqualTo(PIECE);
    pool.free(second, PIECE - GUARD, otherStream);
  }

  @Test
  void aStreamTakesHalfOfTheLargestBlockAndLeavesTheRest() {
    DeferredDevice deferred = new DeferredDevice();
    PoolMemoryResource deferredPool =
        new PoolMemoryResource(new CudaMemoryResource(deferred), PIECE, 4 * PIECE);
    try (DeviceStream one = deferred.createStream();
        DeviceStream other = deferred.createStream()) {
      long first = deferredPool.allocate(256, one);
      deferredPool.free(first, 256, one);
      long taken = deferredPool.allocate(256, other);
      // Both have free memory now, so that neither asks the other one.
      assertThat(deferredPool.allocate(PIECE / 4, one)).isGreaterThan(taken + PIECE / 4);
      assertThat(deferredPool.allocate(PIECE / 4, other)).isEqualTo(taken + 256);
      assertThat(deferredPool.reservedBytes()).isEqualTo(PIECE);
    }
  }

  @Test
  void blocksThatDifferentStreamsFreedAreJoinedWhenNothingElseIsLeft() {
    long whole = 4 * PIECE - GUARD;
    long half = whole / 512 * 256;
    long address = pool.allocate(whole, stream);
    pool.free(address, whole, stream);
    long first = pool.allocate(half, stream);
    long second = pool.allocate(whole - half, stream);
    pool.free(first, half, stream);
    pool.free(second, whole - half, otherStream);
    assertThat(pool.allocate(whole, stream)).isEqualTo(address);
    pool.free(address, whole, stream);
  }

  @Test
  void aRequestBeyondTheUpstreamsLimitIsRefusedAndHoldsNothing() {
    assertThatThrownBy(() -> pool.allocate(5 * PIECE, stream))
        .isInstanceOf(GpuOutOfMemoryException.class)
        .hasMessageContaining("limit of " + 4 * PIECE);
    assertThat(pool.heldBytes()).isZero();
    assertThat(pool.reservedBytes()).isZero();
  }

  @Test
  void theLimitBoundsWhatIsTakenFromUpstream() {
    PoolMemoryResource limited = new PoolMemoryResource(upstream, PIECE, PIECE + PIECE / 2);
    long first = limited.allocate(PIECE - GUARD, stream);
    long second = limited.allocate(PIECE / 2 - GUARD, stream);
    assertThat(limited.reservedBytes()).isEqualTo(PIECE + PIECE / 2);
    assertThatThrownBy(() -> limited.allocate(1, stream))
        .isInstanceOf(GpuOutOfMemoryException.class)
        .hasMessage(
            "256 bytes more would pass the pool's limit of 1572864 bytes; "
                + "1572352 are held in pieces of 1572864 bytes");
    limited.free(first, PIECE - GUARD, stream);
    long third = limited.allocate(1, stream);
    limited.free(second, PIECE / 2 - GUARD, stream);
    limited.free(third, 1, stream);
    limited.trim(stream);
    assertThat(limited.reservedBytes()).isZero();
  }

  @Test
  void unusedPiecesMakeRoomForALargerOneUnderTheLimit() {
    PoolMemoryResource limited = new PoolMemoryResource(upstream, PIECE, 2 * PIECE);
    long first = limited.allocate(PIECE - GUARD, stream);
    long second = limited.allocate(PIECE - GUARD, otherStream);
    limited.free(first, PIECE - GUARD, stream);
    limited.free(second, PIECE - GUARD, otherStream);
    long whole = limited.allocate(2 * PIECE - GUARD, stream);
    assertThat(limited.reservedBytes()).isEqualTo(2 * PIECE);
    limited.free(whole, 2 * PIECE - GUARD, stream);
    limited.trim(stream);
  }

  @Test
  void unusedPiecesMakeRoomForALargerOneOfUpstream() {
    long[] blocks = new long[4];
    for (int i = 0; i < 4; i++) {
      blocks[i] = pool.allocate(PIECE - GUARD, i % 2 == 0 ? stream : otherStream);
    }
    for (int i = 0; i < 3; i++) {
      pool.free(blocks[i], PIECE - GUARD, i % 2 == 0 ? stream : otherStream);
    }
    long large = pool.allocate(2 * PIECE, otherStream);
    assertThat(pool.reservedBytes()).isEqualTo(3 * PIECE + GUARD);
    pool.free(large, 2 * PIECE, otherStream);
    pool.free(blocks[3], PIECE - GUARD, otherStream);
  }

  @Test
  void aPieceSmallerThanTheMinimumIsTakenWhereUpstreamHasNoMore() {
    LimitingResourceAdaptor scarce = new LimitingResourceAdaptor(upstream, PIECE / 2);
    PoolMemoryResource large = new PoolMemoryResource(scarce, PIECE, Long.MAX_VALUE);
    long address = large.allocate(PIECE / 4, stream);
    assertThat(large.reservedBytes()).isEqualTo(PIECE / 4 + GUARD);
    large.free(address, PIECE / 4, stream);
    large.trim(stream);
  }

  @Test
  void aRequestThatNoLimitAllowsIsRefusedAtOnce() {
    PoolMemoryResource unlimited = new PoolMemoryResource(upstream, PIECE, Long.MAX_VALUE);
    PoolMemoryResource empty = new PoolMemoryResource(upstream, PIECE, 0);
    assertThatThrownBy(() -> unlimited.allocate(Long.MAX_VALUE, stream))
        .isInstanceOf(GpuOutOfMemoryException.class);
    assertThatThrownBy(() -> empty.allocate(1, stream))
        .isInstanceOf(GpuOutOfMemoryException.class)
        .hasMessageContaining("limit of 0 bytes");
    assertThatThrownBy(() -> new PoolMemoryResource(upstream, -1, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new PoolMemoryResource(upstream, 0, -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void trimKeepsPiecesThatAreInUse() {
    long kept = pool.allocate(PIECE - GUARD, stream);
    long freed = pool.allocate(PIECE - GUARD, otherStream);
    pool.free(freed, PIECE - GUARD, otherStream);
    pool.trim(stream);
    assertThat(pool.reservedBytes()).isEqualTo(PIECE);
    pool.free(kept, PIECE - GUARD, stream);
  }

  @Test
  void blocksNeverOverlapOrLeaveTheirPiece() {
    Random values = random.random();
    DeviceStream[] streams = {stream, otherStream};
    List<Allocation> held = new ArrayList<>();
    for (int step = 0; step < 5_000; step++) {
      DeviceStream stream = streams[values.nextInt(2)];
      if (!held.isEmpty() && (values.nextInt(5) < 2 || held.size() > 100)) {
        Allocation freed = held.remove(values.nextInt(held.size()));
        pool.free(freed.address(), freed.bytes(), freed.stream());
      } else {
        long bytes = 1L + values.nextInt(values.nextInt(10) == 0 ? 500_000 : 5_000);
        allocate(bytes, stream, held);
      }
    }
    held.forEach(block -> pool.free(block.address(), block.bytes(), block.stream()));
  }

  private void allocate(long bytes, DeviceStream stream, List<Allocation> held) {
    long address;
    try {
      address = pool.allocate(bytes, stream);
    } catch (GpuOutOfMemoryException e) {
      return;
    }
    assertThat(address % 64).isZero();
    for (Allocation other : held) {
      assertThat(address + bytes <= other.address() || other.address() + other.bytes() <= address)
          .as("%s bytes at %s beside %s", bytes, address, other)
          .isTrue();
    }
    held.add(new Allocation(address, bytes, stream));
    assertThat(pool.heldBytes()).isLessThanOrEqualTo(pool.reservedBytes());
  }

  @Test
  void thePoolOfManyStreamsGrowsToAboutTwiceOfWhatIsHeld() {
    DeferredDevice deferred = new DeferredDevice();
    PoolMemoryResource ofMany =
        new PoolMemoryResource(new CudaMemoryResource(deferred), PIECE, Long.MAX_VALUE);
    List<DeviceStream> streams = Stream.generate(deferred::createStream).limit(28).toList();
    Random values = random.random();
    Deque<Allocation> held = new ArrayDeque<>();
    long mostHeld = 0;
    for (int step = 0; step < 2_000; step++) {
      DeviceStream next = streams.get(values.nextInt(streams.size()));
      long bytes = 1L + values.nextInt((int) PIECE);
      held.add(new Allocation(ofMany.allocate(bytes, next), bytes, next));
      mostHeld = Math.max(mostHeld, ofMany.heldBytes());
      if (held.size() > 28) {
        Allocation freed = held.remove();
        ofMany.free(freed.address(), freed.bytes(), freed.stream());
      }
      assertThat(ofMany.reservedBytes()).isLessThanOrEqualTo(2 * (mostHeld + PIECE));
    }
    held.forEach(block -> ofMany.free(block.address(), block.bytes(), block.stream()));
    ofMany.trim(streams.get(0));
    streams.forEach(DeviceStream::close);
    assertThat(ofMany.reservedBytes()).isZero();
  }

  @Test
  void aBlockThatAnotherStreamTakesIsOrderedBehindItsLastUse() {
    DeferredDevice deferred = new DeferredDevice();
    PoolMemoryResource deferredPool = new PoolMemoryResource(new CudaMemoryResource(deferred));
    try (DeviceStream reader = deferred.createStream();
        DeviceStream writer = deferred.createStream()) {
      long source = deferredPool.allocate(1, reader);
      long target = deferred.allocate(1);
      reader.fill(source, (byte) 5, 1);
      reader.copy(target, source, 1);
      deferredPool.free(source, 1, reader);

      long reused = deferredPool.allocate(1, writer);
      assertThat(reused).isEqualTo(source);
      writer.fill(reused, (byte) 9, 1);
      writer.synchronize();

      reader.synchronize();
      assertThat(HostMemory.getByte(target)).isEqualTo((byte) 5);
      deferredPool.free(reused, 1, writer);
      deferred.free(target);
      deferredPool.trim(writer);
    }
    assertThat(deferredPool.reservedBytes()).isZero();
  }
}
