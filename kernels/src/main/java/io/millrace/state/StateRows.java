// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows of a state table in chunks, each a buffer that is copied on write and spilled by itself.
 * The first chunk grows up to the size of the others. Used by one thread.
 */
final class StateRows implements AutoCloseable {
  /** Bytes of a chunk at most. */
  static final long CHUNK_BYTES = 32L << 20;

  private static final long FIRST_BYTES = 64L << 10;

  private final int rowBytes;
  private final int chunkShift;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final List<Buffer> chunks = new ArrayList<>();

  StateRows(int rowBytes, DeviceStream stream, MemoryResource memory) {
    this.rowBytes = rowBytes;
    this.chunkShift = Long.SIZE - 1 - Long.numberOfLeadingZeros(CHUNK_BYTES / rowBytes);
    this.stream = stream;
    this.memory = memory;
  }

  /** The binary logarithm of the number of rows of a chunk. */
  int chunkShift() {
    return chunkShift;
  }

  /** Bytes of all chunks. */
  long reservedBytes() {
    return chunks.stream().mapToLong(Buffer::size).sum();
  }

  private long chunkBytes() {
    return (long) rowBytes << chunkShift;
  }

  /**
   * Makes room for {@code rows} rows in all.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory; the rows stay
   *     as they were, and room that was made stays
   */
  void reserve(long rows) {
    long bytes = rows * rowBytes;
    if (chunks.size() <= 1 && bytes <= chunkBytes()) {
      growFirst(bytes);
      return;
    }
    growFirst(chunkBytes());
    while (chunks.size() * chunkBytes() < bytes) {
      chunks.add(Buffer.allocate(chunkBytes(), stream, memory));
    }
  }

  private void growFirst(long bytes) {
    long size = chunks.isEmpty() ? 0 : chunks.get(0).size();
    if (bytes <= size) {
      return;
    }
    long doubled = Math.min(chunkBytes(), Math.max(Math.max(bytes, 2 * size), FIRST_BYTES));
    Buffer larger = Buffer.allocate(doubled, stream, memory);
    if (size == 0) {
      chunks.add(larger);
      return;
    }
    try (AccessScope scope = AccessScope.on(stream)) {
      long source = chunks.get(0).access(AccessMode.READ, scope);
      stream.copy(larger.access(AccessMode.WRITE, scope), source, size);
    } catch (RuntimeException | Error e) {
      larger.close();
      throw e;
    }
    chunks.set(0, larger).close();
  }

  /** The addresses of the chunks, for writing; chunks that are shared are copied. */
  long[] access(AccessScope scope) {
    return chunks.stream().mapToLong(chunk -> chunk.access(AccessMode.WRITE, scope)).toArray();
  }

  /** The chunks that hold the first {@code rows} rows, for reading; the caller closes them. */
  List<Buffer> share(long rows) {
    List<Buffer> shared = new ArrayList<>();
    long left = rows * rowBytes;
    try {
      for (int i = 0; left > 0; i++) {
        long bytes = Math.min(left, chunkBytes());
        shared.add(chunks.get(i).slice(0, bytes));
        left -= bytes;
      }
      return shared;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      shared.forEach(chunk -> failure.run(chunk::close));
      throw e;
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    chunks.forEach(chunk -> failure.run(chunk::close));
    chunks.clear();
    failure.rethrow();
  }
}
