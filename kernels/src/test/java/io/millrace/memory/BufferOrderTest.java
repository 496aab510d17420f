// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.millrace.device.DeferredDevice;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.memory.resource.CudaAsyncMemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.TrackingResourceAdaptor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The order of work on different streams that an owner makes, on a device that runs it late. */
class BufferOrderTest {
  private final DeferredDevice device = new DeferredDevice();
  private final TrackingResourceAdaptor memory =
      new TrackingResourceAdaptor(new CudaAsyncMemoryResource(device));
  private final DeviceStream owner = device.createStream();
  private final DeviceStream first = device.createStream();
  private final DeviceStream second = device.createStream();
  private final long result = device.allocate(1);

  @AfterEach
  void close() {
    owner.close();
    first.close();
    second.close();
    device.free(result);
    assertThat(memory.heldBytes()).isZero();
  }

  private Buffer make(int value) {
    Buffer buffer = Buffer.allocate(1, owner, memory);
    write(buffer, value, owner);
    return buffer;
  }

  private static void write(Buffer buffer, int value, DeviceStream stream) {
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.fill(buffer.access(AccessMode.WRITE, scope), (byte) value, 1);
    }
  }

  private long address(Buffer buffer) {
    try (AccessScope scope = AccessScope.on(second)) {
      return buffer.access(AccessMode.READ, scope);
    }
  }

  private long writtenAt(Buffer buffer) {
    try (AccessScope scope = AccessScope.on(second)) {
      return buffer.access(AccessMode.WRITE, scope);
    }
  }

  private void read(Buffer buffer, DeviceStream stream) {
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.copy(result, buffer.access(AccessMode.READ, scope), 1);
    }
  }

  private void assertRead(int value) {
    assertThat(HostMemory.getByte(result)).isEqualTo((byte) value);
  }

  @Test
  void aReaderOnAnotherStreamSeesWhatTheOwnersStreamWrote() {
    try (Buffer buffer = make(1)) {
      read(buffer, first);
      first.synchronize();
      assertRead(1);
    }
  }

  /**
   * As {@link #make}, with an event behind the write, as its scope uses memory of another stream.
   */
  private Buffer makeWithEvent(int value) {
    Buffer buffer = Buffer.allocate(1, owner, memory);
    try (Buffer other = Buffer.allocate(1, first, memory);
        AccessScope scope = AccessScope.on(owner)) {
      other.access(AccessMode.READ, scope);
      owner.fill(buffer.access(AccessMode.WRITE, scope), (byte) value, 1);
    }
    return buffer;
  }

  @Test
  void aReaderWaitsForWhatTheOwnersStreamWroteAndNotForItsLaterWork() {
    try (Buffer buffer = makeWithEvent(1)) {
      DeviceEvent later = owner.recordEvent();
      read(buffer, second);
      second.synchronize();
      assertRead(1);
      assertThat(later.isReached()).isFalse();
    }
  }

  @Test
  void aReaderSeesWhatTheOwnersStreamWroteLast() {
    try (Buffer buffer = makeWithEvent(1)) {
      write(buffer, 2, owner);
      read(buffer, second);
      second.synchronize();
      assertRead(2);
    }
  }

  @Test
  void aReaderSeesWhatTheOwnersStreamWroteSinceItReadLast() {
    try (Buffer buffer = make(1)) {
      read(buffer, second);
      write(buffer, 2, owner);
      read(buffer, second);
      second.synchronize();
      assertRead(2);
    }
  }

  @Test
  void aReaderThatReadsAgainDoesNotWaitForLaterWorkOfTheOwnersStream() {
    try (Buffer buffer = make(1)) {
      read(buffer, second);
      DeviceEvent later = owner.recordEvent();
      read(buffer, second);
      second.synchronize();
      assertRead(1);
      assertThat(later.isReached()).isFalse();
    }
  }

  @Test
  void aReaderSeesWhatTheOwnersStreamWritesInAnOpenScope() {
    try (Buffer buffer = makeWithEvent(1);
        AccessScope scope = AccessScope.on(owner)) {
      owner.fill(buffer.access(AccessMode.WRITE, scope), (byte) 2, 1);
      read(buffer, second);
      second.synchronize();
      assertRead(2);
    }
  }

  @Test
  void aReaderSeesWhatIsWrittenToExposedMemoryOnTheOwnersStream() {
    try (Buffer buffer = makeWithEvent(1)) {
      long exposed;
      try (AccessScope scope = AccessScope.on(second)) {
        exposed = buffer.expose(scope);
      }
      owner.fill(exposed, (byte) 2, 1);
      read(buffer, second);
      second.synchronize();
      assertRead(2);
    }
  }

  @Test
  void aWriterWaitsForWhatTheOwnersStreamReadsLast() {
    try (Buffer buffer = makeWithEvent(1)) {
      read(buffer, owner);
      write(buffer, 2, second);
      second.synchronize();
      owner.synchronize();
      assertRead(1);
    }
  }

  @Test
  void aReaderSeesWhatAThirdStreamWrote() {
    try (Buffer buffer = make(1)) {
      write(buffer, 2, first);
      read(buffer, second);
      second.synchronize();
      assertRead(2);
    }
  }

  @Test
  void theOwnersStreamSeesWhatAnotherStreamWrote() {
    try (Buffer buffer = make(1)) {
      write(buffer, 2, first);
      read(buffer, owner);
      owner.synchronize();
      assertRead(2);
    }
  }

  @Test
  void aWriterWaitsForEarlierReaders() {
    try (Buffer buffer = make(1)) {
      read(buffer, first);
      write(buffer, 2, second);
      second.synchronize();
      first.synchronize();
      assertRead(1);
    }
  }

  @Test
  void theOwnersStreamWritesBehindReadersOnOtherStreams() {
    try (Buffer buffer = make(1)) {
      read(buffer, first);
      write(buffer, 2, owner);
      owner.synchronize();
      first.synchronize();
      assertRead(1);
    }
  }

  @Test
  void aSecondWriterIsOrderedBehindTheFirst() {
    try (Buffer buffer = make(1)) {
      write(buffer, 2, first);
      write(buffer, 3, second);
      second.synchronize();
      first.synchronize();
      read(buffer, owner);
      owner.synchronize();
      assertRead(3);
    }
  }

  @Test
  void aWriterWaitsForTheCopyThatAnotherSliceMovesTo() {
    try (Buffer buffer = make(1);
        Buffer other = buffer.share();
        AccessScope scope = AccessScope.on(first)) {
      long moved = buffer.access(AccessMode.WRITE, scope);
      write(other, 2, second);
      second.synchronize();
      first.copy(result, moved, 1);
      first.synchronize();
      assertRead(1);
    }
  }

  @Test
  void whatIsReadStaysUnwrittenUntilItsScopeEndsAlsoOnceItsSliceIsClosed() {
    Buffer buffer = make(1);
    try (Buffer other = buffer.share();
        Buffer third = buffer.share()) {
      try (AccessScope scope = AccessScope.on(first)) {
        first.copy(result, buffer.access(AccessMode.READ, scope), 1);
        buffer.close();
        write(other, 2, second);
        second.synchronize();
      }
      first.synchronize();
      assertRead(1);
      long address = address(third);
      assertThat(writtenAt(third)).isEqualTo(address);
    }
  }

  @Test
  void memoryIsFreedBehindItsLastUse() {
    Buffer buffer = make(1);
    read(buffer, first);
    buffer.close();
    owner.synchronize();
    first.synchronize();
    assertRead(1);
  }

  @Test
  void memoryThatIsClosedWithinAScopeIsFreedBehindItsWork() {
    Buffer buffer = make(1);
    try (AccessScope scope = AccessScope.on(first)) {
      first.copy(result, buffer.access(AccessMode.READ, scope), 1);
      buffer.close();
      assertThat(memory.heldBytes()).isEqualTo(1);
    }
    assertThat(memory.heldBytes()).isZero();
    owner.synchronize();
    first.synchronize();
    assertRead(1);
  }

  @Test
  void memoryIsFreedBehindEveryUse() {
    Buffer buffer = make(1);
    write(buffer, 2, second);
    read(buffer, first);
    read(buffer, second);
    buffer.close();
    owner.synchronize();
    second.synchronize();
    first.synchronize();
    assertRead(2);
  }

  @Test
  void memoryOfAClosedStreamIsFreedBehindItsLastUse() {
    long address = device.allocate(1);
    HostMemory.putByte(address, (byte) 1);
    AtomicBoolean freed = new AtomicBoolean();
    Buffer buffer =
        Buffer.wrap(
            address,
            1,
            owner,
            memory,
            () -> {
              device.free(address);
              freed.set(true);
            });
    read(buffer, first);
    owner.close();
    buffer.close();
    assertThat(freed).isTrue();
    first.synchronize();
    assertRead(1);
  }

  @Test
  void aScopeEndsItsAccessesIfItsStreamMarksNoEvent() {
    Buffer source = make(1);
    Buffer target = make(2);
    AccessScope scope = AccessScope.on(first);
    first.copy(target.access(AccessMode.WRITE, scope), source.access(AccessMode.READ, scope), 1);
    source.close();
    target.close();
    first.close();
    assertThatIllegalStateException().isThrownBy(scope::close);
    assertThat(memory.heldBytes()).isZero();
  }

  @Test
  void aScopeEndsAllAccessesIfOneFails() {
    Buffer failing =
        Buffer.wrap(
            result,
            1,
            owner,
            memory,
            () -> {
              throw new IllegalStateException("the release failed");
            });
    Buffer read = make(1);
    Buffer written = make(2);
    AccessScope scope = AccessScope.on(first);
    failing.access(AccessMode.READ, scope);
    read.access(AccessMode.READ, scope);
    written.access(AccessMode.WRITE, scope);
    failing.close();
    read.close();
    written.close();
    assertThatIllegalStateException().isThrownBy(scope::close).withMessage("the release failed");
    assertThat(memory.heldBytes()).isZero();
  }

  @Test
  void theHostWaitsForWorkOnItsMemory() {
    DeviceStream hostStream = HostDevice.INSTANCE.createStream();
    try (Buffer source = make(7);
        Buffer target = Buffer.allocate(1, hostStream, HostMemoryResource.INSTANCE)) {
      try (AccessScope scope = AccessScope.on(first)) {
        first.copy(
            target.access(AccessMode.WRITE, scope), source.access(AccessMode.READ, scope), 1);
      }
      try (AccessScope scope = AccessScope.on(hostStream)) {
        assertThat(HostMemory.getByte(target.access(AccessMode.READ, scope))).isEqualTo((byte) 7);
      }
    }
  }

  @Test
  void deviceMemoryIsNotReachedFromAnotherDevice() {
    DeferredDevice other = new DeferredDevice();
    try (Buffer buffer = make(1);
        AccessScope hostScope = AccessScope.on(HostDevice.INSTANCE.createStream());
        AccessScope otherScope = AccessScope.on(other.createStream())) {
      assertThatIllegalStateException()
          .isThrownBy(() -> buffer.access(AccessMode.READ, hostScope))
          .withMessageContaining("is used on the host");
      assertThatIllegalStateException()
          .isThrownBy(() -> buffer.access(AccessMode.READ, otherScope));
    }
  }
}
