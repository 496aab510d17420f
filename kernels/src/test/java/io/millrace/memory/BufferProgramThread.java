// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.memory.BufferProgram.Handle;
import io.millrace.memory.spill.SpillException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** A thread of a {@link BufferProgram}, with streams of its own. */
final class BufferProgramThread implements AutoCloseable {
  private static final int MAX_HANDLES = 24;
  private static final int MAX_BYTES = 20_000;

  private final BufferProgram program;
  private final RandomGenerator random;
  private final List<DeviceStream> streams = new ArrayList<>();
  private final List<Handle> handles = new ArrayList<>();
  // Buffers that are read in an open scope: they may be closed, but not written to.
  private final List<Handle> inScope = new ArrayList<>();
  private final Queue<PendingRead> reads = new ArrayDeque<>();

  /** An enqueued copy to the host, and the bytes expected. */
  private record PendingRead(long hostAddress, ByteBuffer expected, DeviceStream stream) {}

  BufferProgramThread(BufferProgram program, long seed) {
    this.program = program;
    this.random = new SplittableRandom(seed);
    for (int i = 0; i < 3; i++) {
      streams.add(program.device().createStream());
    }
  }

  private DeviceStream stream() {
    return streams.get(random.nextInt(streams.size()));
  }

  private Handle any() {
    return handles.get(random.nextInt(handles.size()));
  }

  /** Does one thing; being refused memory is no failure. */
  void step() {
    try {
      if (handles.isEmpty()) {
        allocate();
      } else if (handles.size() > MAX_HANDLES) {
        closeAny();
      } else {
        tryAny();
      }
    } catch (GpuOutOfMemoryException | SpillException refused) {
      assertThat(refused).hasMessageNotContaining("corrupt");
    }
  }

  private void tryAny() {
    switch (random.nextInt(14)) {
      case 0, 1 -> allocate();
      case 2 -> slice();
      case 3 -> derive(Kind.SHALLOW);
      case 4 -> derive(random.nextBoolean() ? Kind.DEEP : Kind.SHARED);
      case 5, 6 -> write();
      case 7, 8 -> read();
      case 9 -> readInScope();
      case 10 -> expose();
      case 11 -> program.manager().spill(random.nextInt(40_000));
      case 12 -> exchange();
      default -> closeAny();
    }
  }

  private enum Kind {
    SHARED,
    SHALLOW,
    DEEP
  }

  private void allocate() {
    int bytes = random.nextInt(4) == 0 ? random.nextInt(MAX_BYTES) : random.nextInt(200);
    DeviceStream stream = stream();
    MemoryResource resource = program.resource(random);
    Handle handle =
        new Handle(
            Buffer.allocate(bytes, streams.get(0), resource),
            new byte[bytes],
            resource.copiesOnWrite());
    handles.add(handle);
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = handle.buffer.access(AccessMode.WRITE, scope);
      fill(handle, address, 0, bytes, stream);
    } catch (GpuOutOfMemoryException | SpillException contentIsUnknown) {
      handles.remove(handle);
      handle.buffer.close();
      throw contentIsUnknown;
    }
  }

  private void fill(Handle handle, long address, int from, int to, DeviceStream stream) {
    byte value = (byte) random.nextInt(256);
    stream.fill(address + from, value, to - from);
    Arrays.fill(handle.content, from, to, value);
  }

  private void slice() {
    Handle handle = any();
    int from = random.nextInt(handle.content.length + 1);
    int to = from + random.nextInt(handle.content.length - from + 1);
    handles.add(
        handle.derive(
            handle.buffer.slice(from, to - from), Arrays.copyOfRange(handle.content, from, to)));
  }

  private void derive(Kind kind) {
    Handle handle = any();
    Buffer buffer =
        switch (kind) {
          case SHARED -> handle.buffer.share();
          case SHALLOW -> handle.buffer.shallowCopy(stream());
          case DEEP -> handle.buffer.deepCopy(stream());
        };
    handles.add(handle.derive(buffer, handle.content.clone()));
  }

  private void write() {
    Handle handle = any();
    if (inScope.contains(handle)) {
      return;
    }
    int from = random.nextInt(handle.content.length + 1);
    int to = from + random.nextInt(handle.content.length - from + 1);
    DeviceStream stream = stream();
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = handle.buffer.access(program.writeMode(), scope);
      checkExposed(handle, address);
      fill(handle, address, from, to, stream);
    } catch (IllegalStateException e) {
      checkIsSharedForGood(handle, e);
    }
  }

  private static void checkIsSharedForGood(Handle handle, IllegalStateException e) {
    assertThat(e).hasMessageStartingWith("the buffer is shared by");
    assertThat(handle.exposed || !handle.copiesOnWrite).isTrue();
  }

  private static void checkExposed(Handle handle, long address) {
    if (handle.exposed) {
      assertThat(address).as("an exposed address").isEqualTo(handle.exposedAddress);
    }
  }

  private void read() {
    Handle handle = any();
    DeviceStream stream = stream();
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = handle.buffer.access(AccessMode.READ, scope);
      checkExposed(handle, address);
      enqueueRead(address, handle.content, stream);
    }
    if (random.nextBoolean()) {
      finishReads();
    }
  }

  private void enqueueRead(long address, byte[] expected, DeviceStream stream) {
    long hostAddress = HostMemory.allocate(expected.length + 1L);
    reads.add(new PendingRead(hostAddress, ByteBuffer.wrap(expected.clone()), stream));
    stream.copy(hostAddress, address, expected.length);
  }

  private void finishReads() {
    for (PendingRead read = reads.poll(); read != null; read = reads.poll()) {
      read.stream.synchronize();
      byte[] found = new byte[read.expected.capacity()];
      HostMemory.copyToArray(found, 0, read.hostAddress, found.length);
      HostMemory.free(read.hostAddress);
      assertThat(ByteBuffer.wrap(found).mismatch(read.expected))
          .as("first byte that differs")
          .isEqualTo(-1);
    }
  }

  // Other operations run while the scope is open; they must neither move nor change its memory.
  private void readInScope() {
    if (!inScope.isEmpty()) {
      return;
    }
    DeviceStream stream = stream();
    try (AccessScope scope = AccessScope.on(stream)) {
      List<Long> addresses = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Handle handle = any();
        addresses.add(handle.buffer.access(AccessMode.READ, scope));
        inScope.add(handle);
      }
      for (int i = random.nextInt(8); i > 0; i--) {
        step();
      }
      for (int i = 0; i < addresses.size(); i++) {
        Handle handle = inScope.get(i);
        if (handles.contains(handle)) {
          assertThat(handle.buffer.access(AccessMode.READ, scope)).isEqualTo(addresses.get(i));
        }
        enqueueRead(addresses.get(i), handle.content, stream);
      }
    } finally {
      inScope.clear();
    }
  }

  private void expose() {
    Handle handle = any();
    if (inScope.contains(handle) || random.nextInt(4) > 0) {
      return;
    }
    try (AccessScope scope = AccessScope.on(stream())) {
      long address = handle.buffer.expose(scope);
      checkExposed(handle, address);
      handle.exposed = true;
      handle.exposedAddress = address;
    } catch (IllegalStateException e) {
      checkIsSharedForGood(handle, e);
    }
  }

  private void exchange() {
    Handle handle = any();
    Handle taken = program.take();
    program.handOver(handle.derive(handle.buffer.share(), handle.content.clone()));
    if (taken != null) {
      handles.add(taken);
    }
  }

  private void closeAny() {
    handles.remove(random.nextInt(handles.size())).buffer.close();
  }

  /** Reads everything once more, closes it and waits for the streams. */
  @Override
  public void close() {
    try {
      handles.forEach(this::readAtTheEnd);
      finishReads();
    } finally {
      handles.forEach(handle -> handle.buffer.close());
      reads.forEach(read -> read.stream.synchronize());
      reads.forEach(read -> HostMemory.free(read.hostAddress));
      streams.forEach(DeviceStream::close);
    }
  }

  private void readAtTheEnd(Handle handle) {
    DeviceStream stream = stream();
    try (AccessScope scope = AccessScope.on(stream)) {
      enqueueRead(handle.buffer.access(AccessMode.READ, scope), handle.content, stream);
    } catch (GpuOutOfMemoryException | SpillException noRoomToComeBack) {
      assertThat(noRoomToComeBack).hasMessageNotContaining("corrupt");
    }
  }
}
