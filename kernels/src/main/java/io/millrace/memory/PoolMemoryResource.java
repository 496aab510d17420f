package io.millrace.memory;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A stream-ordered pool with coalescing: best fit over the free blocks of the asking stream, then
 * over other streams' (ordered behind them), then a new piece from upstream. Memory goes back
 * upstream only by {@link #trim}. The idea is RMM's stream-ordered pool.
 */
public final class PoolMemoryResource implements MemoryResource {
  private static final long ALIGNMENT = 256;
  // Never given out at the end of a piece: blocks of pieces that are neighbours must not be joined,
  // because the driver refuses copies that span two of its allocations.
  private static final long GUARD_BYTES = ALIGNMENT;
  private static final long MINIMUM_PIECE_BYTES = 64L << 20;
  private static final Map<Device, PoolMemoryResource> SHARED = new ConcurrentHashMap<>();

  private final MemoryResource upstream;
  private final long minimumPieceBytes;
  private final Map<DeviceStream, FreeBlocks> freeByStream = new HashMap<>();
  private final Map<Long, Long> pieces = new HashMap<>();
  private long heldBytes;

  /**
   * @param upstream where pieces of at least 64 MiB come from; its memory is used on any stream, so
   *     it must not be stream-ordered itself
   */
  public PoolMemoryResource(CudaMemoryResource upstream) {
    this(upstream, MINIMUM_PIECE_BYTES);
  }

  PoolMemoryResource(MemoryResource upstream, long minimumPieceBytes) {
    this.upstream = upstream;
    this.minimumPieceBytes = minimumPieceBytes;
  }

  /** The process's pool for {@code device}. */
  static PoolMemoryResource shared(Device device) {
    return SHARED.computeIfAbsent(
        device, key -> new PoolMemoryResource(new CudaMemoryResource(key)));
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  @Override
  public synchronized long allocate(long bytes, DeviceStream stream) {
    if (bytes == 0) {
      return 0;
    }
    long rounded = roundUp(bytes);
    FreeBlocks own = freeByStream.computeIfAbsent(stream, key -> new FreeBlocks());
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

  private long takeFromOtherStream(long bytes, DeviceStream stream, FreeBlocks own) {
    for (Map.Entry<DeviceStream, FreeBlocks> other : freeByStream.entrySet()) {
      if (other.getValue() != own && other.getValue().has(bytes)) {
        join(other.getKey(), stream, own);
        return own.take(bytes);
      }
    }
    return 0;
  }

  // The entry goes too, or the pool would remember every stream that there ever was.
  private void join(DeviceStream other, DeviceStream stream, FreeBlocks own) {
    stream.waitFor(other);
    own.addAll(freeByStream.remove(other));
  }

  private long grow(long bytes, DeviceStream stream, FreeBlocks own) {
    long pieceBytes = Math.max(bytes + GUARD_BYTES, minimumPieceBytes);
    long piece;
    try {
      piece = upstream.allocate(pieceBytes, stream);
    } catch (GpuOutOfMemoryException e) {
      return takeAfterJoiningAll(bytes, stream, own, e);
    }
    pieces.put(piece, pieceBytes);
    own.add(piece, pieceBytes - GUARD_BYTES);
    return own.take(bytes);
  }

  // Neighbours that different streams freed are only joined when nothing else is left.
  private long takeAfterJoiningAll(
      long bytes, DeviceStream stream, FreeBlocks own, GpuOutOfMemoryException cause) {
    joinAll(stream, own);
    long address = own.take(bytes);
    if (address == 0) {
      throw cause;
    }
    return address;
  }

  private void joinAll(DeviceStream stream, FreeBlocks own) {
    for (DeviceStream other : List.copyOf(freeByStream.keySet())) {
      if (other != stream) {
        join(other, stream, own);
      }
    }
  }

  @Override
  public synchronized void free(long address, long bytes, DeviceStream stream) {
    if (bytes > 0) {
      long rounded = roundUp(bytes);
      heldBytes -= rounded;
      freeByStream.computeIfAbsent(stream, key -> new FreeBlocks()).add(address, rounded);
    }
  }

  /** Bytes handed out and not freed, rounded up to the pool's alignment. */
  public synchronized long heldBytes() {
    return heldBytes;
  }

  /** Bytes taken from upstream. */
  public synchronized long reservedBytes() {
    return pieces.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Gives pieces that are wholly free back upstream, after the work of {@code stream}. */
  public synchronized void trim(DeviceStream stream) {
    FreeBlocks all = freeByStream.computeIfAbsent(stream, key -> new FreeBlocks());
    joinAll(stream, all);
    pieces
        .entrySet()
        .removeIf(
            piece -> {
              boolean free = all.takeRange(piece.getKey(), piece.getValue() - GUARD_BYTES);
              if (free) {
                upstream.free(piece.getKey(), piece.getValue(), stream);
              }
              return free;
            });
  }

  private static long roundUp(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }
}
