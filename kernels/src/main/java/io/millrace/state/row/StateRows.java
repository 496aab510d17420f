// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The rows of a state table in chunks of equal size, of which only the first may be smaller while
 * it is the only chunk. Chunks lie in extents, each a buffer that is copied on write and spilled by
 * itself: a small table has an extent for each chunk, and a large table larger extents, so that an
 * update has few buffers to access. Extents that were spilled to pinned host memory are used where
 * they are. Used by one thread.
 */
@Internal
public final class StateRows implements AutoCloseable {
  /** Bytes of a chunk at most. */
  public static final long CHUNK_BYTES = 4L << 20;

  private static final int MAX_CHUNKS_OF_EXTENT = 64;
  // A new extent has this part of all chunks before it.
  private static final int GROWTH_FRACTION = 8;
  private static final long FIRST_BYTES = 64L << 10;

  private final int rowBytes;
  private final int chunkShift;
  private final int mostChunksOfExtent;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final List<Buffer> extents = new ArrayList<>();
  // Written by one thread.
  private volatile CopiedExtents copied = CopiedExtents.NONE;

  public StateRows(int rowBytes, DeviceStream stream, MemoryResource memory) {
    this(rowBytes, MAX_CHUNKS_OF_EXTENT, stream, memory);
  }

  /**
   * @param mostChunksOfExtent chunks of an extent at most
   */
  StateRows(int rowBytes, int mostChunksOfExtent, DeviceStream stream, MemoryResource memory) {
    this.rowBytes = rowBytes;
    this.chunkShift = chunkShift(rowBytes);
    this.mostChunksOfExtent = mostChunksOfExtent;
    this.stream = stream;
    this.memory = memory;
  }

  /** The binary logarithm of the number of rows of a chunk. */
  public static int chunkShift(int rowBytes) {
    return Long.SIZE - 1 - Long.numberOfLeadingZeros(CHUNK_BYTES / rowBytes);
  }

  /** The binary logarithm of the number of rows of a chunk. */
  public int chunkShift() {
    return chunkShift;
  }

  /** Bytes of all chunks. */
  public long reservedBytes() {
    return extents.stream().mapToLong(Buffer::size).sum();
  }

  /** The extents that were copied on write. Any thread may ask. */
  public CopiedExtents copied() {
    return copied;
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
  public void reserve(long rows) {
    long bytes = rows * rowBytes;
    if (extents.size() <= 1 && bytes <= chunkBytes()) {
      growFirst(bytes);
      return;
    }
    growFirst(chunkBytes());
    for (long reserved = reservedBytes(); reserved < bytes; ) {
      long grown = reserved / chunkBytes() / GROWTH_FRACTION;
      long chunks = Math.min(Math.max(grown, 1), mostChunksOfExtent);
      extents.add(Buffer.allocate(chunks * chunkBytes(), stream, memory));
      reserved += chunks * chunkBytes();
    }
  }

  private void growFirst(long bytes) {
    long size = extents.isEmpty() ? 0 : extents.get(0).size();
    if (bytes <= size) {
      return;
    }
    long doubled = Math.min(chunkBytes(), Math.max(Math.max(bytes, 2 * size), FIRST_BYTES));
    Buffer larger = Buffer.allocate(doubled, stream, memory);
    if (size == 0) {
      extents.add(larger);
      return;
    }
    try (AccessScope scope = AccessScope.on(stream)) {
      long source = extents.get(0).accessInPlace(AccessMode.READ, scope);
      stream.copy(larger.access(AccessMode.WRITE, scope), source, size);
    } catch (RuntimeException | Error e) {
      larger.close();
      throw e;
    }
    extents.set(0, larger).close();
  }

  /** The addresses of the chunks, for writing; extents that are shared are copied. */
  public long[] access(AccessScope scope) {
    return access(0, scope);
  }

  /** The same, where only rows from {@code first} on are written. */
  long[] access(long first, AccessScope scope) {
    return addresses(first >> chunkShift, scope);
  }

  /**
   * A bit for each chunk: whether it lies in host memory, and work on the device reaches it over
   * the bus. Within the scope of an access; empty if none does.
   */
  public long[] hostChunks() {
    BitSet onHost = new BitSet();
    long chunkBytes = chunkBytes();
    int chunk = 0;
    for (Buffer extent : extents) {
      int end = chunk + (int) ((extent.size() + chunkBytes - 1) / chunkBytes);
      onHost.set(chunk, end, extent.tier() == SpillTier.HOST);
      chunk = end;
    }
    // The words behind the last set bit are read too.
    int words = onHost.isEmpty() ? 0 : (chunk - 1) / Long.SIZE + 1;
    return Arrays.copyOf(onHost.toLongArray(), words);
  }

  /** The addresses of the chunks, for reading. */
  public long[] read(AccessScope scope) {
    return addresses(Long.MAX_VALUE, scope);
  }

  private long[] addresses(long firstWritten, AccessScope scope) {
    long chunkBytes = chunkBytes();
    long[] addresses = new long[(int) ((reservedBytes() + chunkBytes - 1) / chunkBytes)];
    int chunk = 0;
    for (Buffer extent : extents) {
      int end = chunk + (int) ((extent.size() + chunkBytes - 1) / chunkBytes);
      AccessMode mode = end > firstWritten ? AccessMode.WRITE : AccessMode.READ;
      boolean isCopied = mode == AccessMode.WRITE && extent.liveSlices() > 1;
      long address = extent.accessInPlace(mode, scope);
      if (isCopied) {
        copied = copied.plus(new CopiedExtents(1, extent.size()));
      }
      for (; chunk < end; chunk++, address += chunkBytes) {
        addresses[chunk] = address;
      }
    }
    return addresses;
  }

  /** The addresses of the chunks of extents that {@link #share} gave, for reading. */
  public static long[] read(List<Buffer> shared, int rowBytes, AccessScope scope) {
    long chunkBytes = (long) rowBytes << chunkShift(rowBytes);
    LongStream.Builder addresses = LongStream.builder();
    for (Buffer extent : shared) {
      long first = extent.accessInPlace(AccessMode.READ, scope);
      for (long offset = 0; offset < extent.size(); offset += chunkBytes) {
        addresses.add(first + offset);
      }
    }
    return addresses.build().toArray();
  }

  /**
   * The extents that hold the first {@code rows} rows, as they are now; the caller closes them.
   * Copies them if memory is not copied on write.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory for copies
   */
  public List<Buffer> share(long rows) {
    List<Buffer> shared = new ArrayList<>();
    long left = rows * rowBytes;
    try {
      for (int i = 0; left > 0; i++) {
        long bytes = Math.min(left, extents.get(i).size());
        try (Buffer extent = extents.get(i).slice(0, bytes)) {
          shared.add(extent.shallowCopy(stream));
        }
        left -= bytes;
      }
      return shared;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      shared.forEach(extent -> failure.run(extent::close));
      throw e;
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    extents.forEach(extent -> failure.run(extent::close));
    extents.clear();
    failure.rethrow();
  }
}
