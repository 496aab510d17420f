// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostDevice;
import io.millrace.memory.MemoryResource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A stream-ordered pool with coalescing: best fit over the free blocks of the asking stream, then
 * of the largest block of another stream (ordered behind it), then, if no more is held than free,
 * of the free blocks of all streams, then of a new piece from upstream, up to a limit. Memory goes
 * back upstream only by {@link #trim}, or when a request could not be met otherwise. The idea is
 * RMM's stream-ordered pool.
 */
@PublicEvolving
public final class PoolMemoryResource implements MemoryResource {
  private static final long ALIGNMENT = 256;
  // Never given out at the end of a piece: blocks of pieces that are neighbours must not be joined,
  // because the driver refuses copies that span two of its allocations.
  private static final long GUARD_BYTES = ALIGNMENT;
  private static final long MIN_PIECE_BYTES = 64L << 20;
  private static final DeviceStream HOST_STREAMS = HostDevice.INSTANCE.createStream();

  private final MemoryResource upstream;
  private final long minimumPieceBytes;
  private final long maximumBytes;
  private final Map<DeviceStream, FreeList> freeByStream = new HashMap<>();
  private final Map<Long, Long> pieces = new HashMap<>();
  private long heldBytes;
  private long reservedBytes;

  /** Takes pieces of at least 64 MiB, without a limit. */
  public PoolMemoryResource(CudaMemoryResource upstream) {
    this(upstream, MIN_PIECE_BYTES, Long.MAX_VALUE);
  }

  /**
   * @param upstream the resource that pieces are allocated from; its memory is used on any stream
   *     of its device, so it must not be stream-ordered itself
   * @param minimumPieceBytes the size of a piece while the limit and upstream allow it; a larger
   *     request gets a piece of its own
   * @param maximumBytes the largest number of bytes allocated from upstream, including 256 per
   *     piece for the pool's own use; {@link Long#MAX_VALUE} for no limit
   * @throws IllegalArgumentException if either number is negative
   */
  public PoolMemoryResource(MemoryResource upstream, long minimumPieceBytes, long maximumBytes) {
    if (minimumPieceBytes < 0 || maximumBytes < 0) {
      throw new IllegalArgumentException(
          "a pool cannot have pieces of "
              + minimumPieceBytes
              + " bytes and a limit of "
              + maximumBytes);
    }
    this.upstream = upstream;
    this.minimumPieceBytes = minimumPieceBytes;
    this.maximumBytes = maximumBytes;
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Before a request is refused, the free blocks of all streams are joined, pieces that are
   * wholly free go back upstream, and upstream is asked once more.
   *
   * @throws GpuOutOfMemoryException also if the limit would be passed
   */
  @Override
  public synchronized long allocate(long bytes, DeviceStream stream) {
    if (bytes == 0) {
      return 0;
    }
    if (bytes > (maximumBytes & -ALIGNMENT) - GUARD_BYTES) {
      throw beyondLimit(bytes);
    }
    long rounded = roundUp(bytes);
    FreeList own = freeOf(stream);
    long address = own.take(rounded);
    if (address == 0) {
      address = takeFromOtherStream(rounded, stream, own);
    }
    if (address == 0) {
      address = grow(rounded, stream, own);
    }
    heldBytes += rounded;
    return address;
  }

  // Half of the largest block, so that streams that take turns need not take from each other for
  // each request, and keep what they need: if all blocks went over, the other stream would soon
  // take them back.
  private long takeFromOtherStream(long bytes, DeviceStream stream, FreeList own) {
    joinClosed(stream, own);
    if (own.has(bytes)) {
      return own.take(bytes);
    }
    DeviceStream largest = null;
    long largestBytes = 0;
    for (Map.Entry<DeviceStream, FreeList> other : freeByStream.entrySet()) {
      long size = other.getValue() == own ? 0 : other.getValue().largestSize();
      if (size > largestBytes) {
        largest = other.getKey();
        largestBytes = size;
      }
    }
    if (largestBytes < bytes) {
      return 0;
    }
    stream.waitFor(largest);
    long taken = Math.max(bytes, roundUp(largestBytes / 2));
    own.add(freeByStream.get(largest).takeOfLargest(taken), taken);
    return own.take(bytes);
  }

  private void joinClosed(DeviceStream stream, FreeList own) {
    for (DeviceStream other : List.copyOf(freeByStream.keySet())) {
      if (freeByStream.get(other) != own && other.isClosed()) {
        join(other, stream, own);
      }
    }
  }

  // The entry goes too, or the pool would remember every stream that there ever was.
  private void join(DeviceStream other, DeviceStream stream, FreeList own) {
    stream.waitFor(other);
    own.addAll(freeByStream.remove(other));
  }

  // Streams that have freed nothing are forgotten: they may be closed.
  private long grow(long bytes, DeviceStream stream, FreeList own) {
    freeByStream.values().removeIf(blocks -> blocks != own && blocks.isEmpty());
    if (isHalfFree(bytes)) {
      joinAll(stream, own);
      if (own.has(bytes)) {
        return own.take(bytes);
      }
    }
    try {
      addPiece(bytes, minimumPieceBytes, stream, own);
    } catch (GpuOutOfMemoryException e) {
      joinAll(stream, own);
      if (!own.has(bytes)) {
        freeUnusedPieces(stream, own);
        growAfterTrim(bytes, stream, own);
      }
    }
    return own.take(bytes);
  }

  // Joining moves all blocks to one stream, and the others soon take from it. So neighbours that
  // different streams freed are joined if the pool would otherwise grow to more than about twice of
  // what is held, and when nothing else is left.
  private boolean isHalfFree(long bytes) {
    long freeBytes = reservedBytes - heldBytes;
    return freeBytes >= bytes && freeBytes >= heldBytes;
  }

  // As large a piece as before, or many small requests would end as a driver allocation each.
  private void growAfterTrim(long bytes, DeviceStream stream, FreeList own) {
    try {
      addPiece(bytes, minimumPieceBytes, stream, own);
    } catch (GpuOutOfMemoryException e) {
      addPiece(bytes, 0, stream, own);
    }
  }

  private void addPiece(long bytes, long minimumBytes, DeviceStream stream, FreeList own) {
    long neededBytes = bytes + GUARD_BYTES;
    long roomBytes = maximumBytes - reservedBytes;
    if (neededBytes > roomBytes) {
      throw beyondLimit(bytes);
    }
    long pieceBytes = Math.min(roomBytes, Math.max(neededBytes, minimumBytes));
    long piece = upstream.allocate(pieceBytes, stream);
    pieces.put(piece, pieceBytes);
    reservedBytes += pieceBytes;
    own.add(piece, pieceBytes - GUARD_BYTES);
  }

  private GpuOutOfMemoryException beyondLimit(long bytes) {
    return new GpuOutOfMemoryException(
        bytes
            + " bytes more would pass the pool's limit of "
            + maximumBytes
            + " bytes; "
            + heldBytes
            + " are held in pieces of "
            + reservedBytes
            + " bytes");
  }

  private void joinAll(DeviceStream stream, FreeList own) {
    for (DeviceStream other : List.copyOf(freeByStream.keySet())) {
      if (freeByStream.get(other) != own) {
        join(other, stream, own);
      }
    }
  }

  @Override
  public synchronized void free(long address, long bytes, DeviceStream stream) {
    if (bytes > 0) {
      long rounded = roundUp(bytes);
      heldBytes -= rounded;
      freeOf(stream).add(address, rounded);
    }
  }

  /** Bytes handed out and not freed, rounded up to the pool's alignment. */
  public synchronized long heldBytes() {
    return heldBytes;
  }

  /** Bytes taken from upstream. */
  public synchronized long reservedBytes() {
    return reservedBytes;
  }

  /** Gives pieces that are wholly free back upstream, after the work of {@code stream}. */
  public synchronized void trim(DeviceStream stream) {
    FreeList own = freeOf(stream);
    joinAll(stream, own);
    freeUnusedPieces(stream, own);
    if (pieces.isEmpty()) {
      freeByStream.clear();
    }
  }

  private void freeUnusedPieces(DeviceStream stream, FreeList own) {
    for (Map.Entry<Long, Long> piece : List.copyOf(pieces.entrySet())) {
      long address = piece.getKey();
      long bytes = piece.getValue();
      if (own.takeRange(address, bytes - GUARD_BYTES)) {
        pieces.remove(address);
        reservedBytes -= bytes;
        upstream.free(address, bytes, stream);
      }
    }
  }

  // Work of the host's streams is done when it is enqueued: their blocks are one list.
  private FreeList freeOf(DeviceStream stream) {
    DeviceStream owner = stream.device().kind() == DeviceKind.HOST ? HOST_STREAMS : stream;
    return freeByStream.computeIfAbsent(owner, key -> new FreeList());
  }

  private static long roundUp(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }
}
