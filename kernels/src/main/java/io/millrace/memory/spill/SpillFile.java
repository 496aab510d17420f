// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.memory.resource.FreeList;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * The disk tier of one job's quota: one {@link TemporaryFile} that holds regions of spilled memory.
 * It is created at the first write and disappears when it is closed or the process ends, also by
 * SIGKILL. Freed regions are reused; free space at the end of the file is truncated. Each region
 * has a checksum that is kept in memory.
 *
 * <p>Thread-safe, but a {@link Writer} and a {@link Reader} are for one thread at a time. Calls
 * wait for the disk; an interrupt neither ends them nor is lost.
 */
final class SpillFile implements AutoCloseable {
  private static final long ALIGNMENT = 4096;
  // Free blocks know addresses, and the address 0 is none.
  private static final long BASE_ADDRESS = ALIGNMENT;

  private final List<Path> directories;
  private final long limitBytes;
  private final FreeList free = new FreeList();
  private final Map<Long, Region> regions = new HashMap<>();
  private TemporaryFile file;
  private long fileBytes;
  private long heldBytes;
  private boolean closed;

  /**
   * Spilled memory.
   *
   * @param offset where it is in the file
   * @param bytes its size
   * @param checksum its CRC-32C
   */
  record Region(long offset, long bytes, int checksum) {}

  private SpillFile(List<Path> directories, long limitBytes) {
    this.directories = directories;
    this.limitBytes = limitBytes;
  }

  /**
   * A file that will be created in the directory with the most usable space at that time. Missing
   * directories are created.
   *
   * @param limitBytes the largest size of the file
   * @throws SpillException if no file can be created in any of the directories
   * @throws IllegalArgumentException if {@code limitBytes} is negative
   */
  static SpillFile in(List<Path> directories, long limitBytes) {
    if (limitBytes < 0) {
      throw new IllegalArgumentException("the disk limit is negative: " + limitBytes);
    }
    List<Path> writable = new ArrayList<>();
    List<IOException> failures = new ArrayList<>();
    for (Path directory : directories) {
      try {
        Files.createDirectories(directory);
        Files.delete(Files.createTempFile(directory, "millrace-", ".spill"));
        writable.add(directory);
      } catch (IOException e) {
        failures.add(e);
      }
    }
    if (writable.isEmpty()) {
      SpillException failure =
          new SpillException(
              "cannot spill to disk: no file can be made in any directory of "
                  + directories
                  + "; set io.tmp.dirs to a writable directory");
      failures.forEach(failure::addSuppressed);
      throw failure;
    }
    return new SpillFile(writable, limitBytes);
  }

  /**
   * Writes {@code bytes} bytes of host memory at {@code address}, which the caller still owns. The
   * caller frees the region.
   *
   * @throws SpillException if the disk or the limit has no room, or the disk fails; nothing is held
   *     then
   * @throws IllegalStateException if the file is closed
   */
  Region write(long address, long bytes) {
    try (Writer writer = writer(bytes)) {
      writer.append(address, bytes);
      return writer.finish();
    }
  }

  /**
   * Takes room for {@code bytes} bytes, to be written piece by piece.
   *
   * @throws SpillException if the limit has no room, or no file can be made
   * @throws IllegalStateException if the file is closed
   */
  synchronized Writer writer(long bytes) {
    return new Writer(take(bytes), bytes);
  }

  /**
   * Reads all of {@code region} to host memory at {@code address}. The region stays held.
   *
   * @throws SpillException if the disk fails or the checksum does not match
   * @throws IllegalStateException if the region is freed or the file is closed
   */
  void read(Region region, long address) {
    reader(region).read(address, region.bytes());
  }

  /**
   * Starts to read {@code region} piece by piece.
   *
   * @throws IllegalStateException if the region is freed or the file is closed
   */
  synchronized Reader reader(Region region) {
    checkOpen();
    if (!region.equals(regions.get(region.offset()))) {
      throw new IllegalStateException("reading a region that is freed: " + region);
    }
    return new Reader(region);
  }

  /**
   * Gives the room of {@code region} back; does nothing once the file is closed.
   *
   * @throws IllegalStateException if the region is freed already
   * @throws SpillException if the file cannot be cut off
   */
  synchronized void free(Region region) {
    if (closed) {
      return;
    }
    if (!regions.remove(region.offset(), region)) {
      throw new IllegalStateException("freeing a region that is freed: " + region);
    }
    giveBack(region.offset(), region.bytes());
  }

  /** Bytes of regions and of open writers, rounded up to 4 KiB each. */
  synchronized long heldBytes() {
    return heldBytes;
  }

  /** The size of the file, including free space between regions. */
  synchronized long fileBytes() {
    return fileBytes;
  }

  /**
   * Frees everything and deletes the file; what others read or write meanwhile fails with an {@link
   * IllegalStateException}. Closing again does nothing.
   *
   * @throws SpillException if the disk fails
   */
  @Override
  public synchronized void close() {
    closed = true;
    regions.clear();
    heldBytes = 0;
    fileBytes = 0;
    if (file != null) {
      try {
        file.close();
      } catch (IOException e) {
        throw failure("cannot close the spill file", e);
      }
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the spill file is closed");
    }
  }

  private long take(long bytes) {
    checkOpen();
    long room = roundUp(bytes);
    long block = free.take(room);
    long offset = block == 0 ? grow(bytes, room) : block - BASE_ADDRESS;
    heldBytes += room;
    return offset;
  }

  private long grow(long bytes, long room) {
    if (room > limitBytes - fileBytes) {
      throw new SpillException(
          "cannot spill "
              + bytes
              + " bytes to disk: "
              + heldBytes
              + " bytes are held of a file of "
              + fileBytes
              + ", which may have "
              + limitBytes
              + "; raise millrace.spill.disk-limit");
    }
    if (file == null) {
      file = open();
    }
    long offset = fileBytes;
    fileBytes += room;
    return offset;
  }

  // An empty region takes room too, so that each region has its own offset.
  private static long roundUp(long bytes) {
    return (Math.max(1, bytes) + ALIGNMENT - 1) & -ALIGNMENT;
  }

  private TemporaryFile open() {
    try {
      Path best = null;
      long bestBytes = -1;
      for (Path directory : directories) {
        long bytes = Files.getFileStore(directory).getUsableSpace();
        if (bytes > bestBytes) {
          best = directory;
          bestBytes = bytes;
        }
      }
      return new TemporaryFile(best);
    } catch (IOException e) {
      throw new SpillException(
          "cannot make a spill file in "
              + directories
              + "; set io.tmp.dirs to a writable directory: "
              + e,
          e);
    }
  }

  private synchronized void giveBack(long offset, long bytes) {
    if (closed) {
      return;
    }
    long room = roundUp(bytes);
    heldBytes -= room;
    free.add(BASE_ADDRESS + offset, room);
    long tailBytes = free.takeEndingAt(BASE_ADDRESS + fileBytes);
    if (tailBytes > 0) {
      fileBytes -= tailBytes;
      try {
        file.truncate(fileBytes);
      } catch (IOException e) {
        throw failure("cannot cut the spill file off at offset " + fileBytes, e);
      }
    }
  }

  private SpillException failure(String what, IOException cause) {
    return new SpillException(what + " in " + file.directory() + ": " + cause.getMessage(), cause);
  }

  /** Writes one region from its first byte to its last. Must be closed. */
  final class Writer implements AutoCloseable {
    private final long offset;
    private final long bytes;
    private final CRC32C checksum = new CRC32C();
    private long written;
    private boolean done;

    private Writer(long offset, long bytes) {
      this.offset = offset;
      this.bytes = bytes;
    }

    /**
     * Writes the next {@code count} bytes, from host memory at {@code address}.
     *
     * @throws SpillException if the disk is full or fails; only {@link #close} may follow
     * @throws IllegalStateException if the file or the writer is closed
     * @throws IllegalArgumentException if the region has no room for {@code count} more bytes
     */
    void append(long address, long count) {
      checkNotDone();
      if (count > bytes - written) {
        throw new IllegalArgumentException(
            "appending " + count + " bytes to a region that lacks " + (bytes - written));
      }
      try {
        file.write(offset + written, address, count, checksum);
      } catch (IOException e) {
        throw failure("cannot spill " + bytes + " bytes to disk (" + advice(e) + ")", e);
      }
      written += count;
    }

    private String advice(IOException failure) {
      try {
        return file.usableBytes()
            + " bytes are usable; free disk space, or add a directory to io.tmp.dirs";
      } catch (IOException e) {
        failure.addSuppressed(e);
        return "check the disk";
      }
    }

    private void checkNotDone() {
      if (done) {
        throw new IllegalStateException("the writer is closed");
      }
    }

    /**
     * The region that was written; the caller frees it.
     *
     * @throws IllegalStateException if bytes are missing, or the file or the writer is closed
     */
    Region finish() {
      checkNotDone();
      if (written < bytes) {
        throw new IllegalStateException("the region lacks " + (bytes - written) + " bytes");
      }
      Region region = new Region(offset, bytes, (int) checksum.getValue());
      synchronized (SpillFile.this) {
        checkOpen();
        regions.put(offset, region);
      }
      done = true;
      return region;
    }

    /** Gives the room back, unless the region is finished. */
    @Override
    public void close() {
      if (!done) {
        done = true;
        giveBack(offset, bytes);
      }
    }
  }

  /** Reads one region from its first byte to its last. */
  final class Reader {
    private final Region region;
    private final CRC32C checksum = new CRC32C();
    private long done;

    private Reader(Region region) {
      this.region = region;
    }

    /**
     * Reads the next {@code count} bytes to host memory at {@code address}. The last bytes trigger
     * the check of the checksum; no byte is verified before that.
     *
     * @throws SpillException if the disk fails or the checksum does not match
     * @throws IllegalStateException if the file is closed
     * @throws IllegalArgumentException if less than {@code count} bytes are left
     */
    void read(long address, long count) {
      if (count > region.bytes - done) {
        throw new IllegalArgumentException(
            "reading " + count + " bytes where " + (region.bytes - done) + " are left");
      }
      try {
        file.read(region.offset + done, address, count, checksum);
      } catch (IOException e) {
        throw failure("cannot read " + described(), e);
      }
      done += count;
      if (done == region.bytes && (int) checksum.getValue() != region.checksum) {
        throw new SpillException(
            String.format(
                Locale.ROOT,
                "%s in %s are corrupt: their CRC-32C is %08x and must be %08x",
                described(),
                file.directory(),
                (int) checksum.getValue(),
                region.checksum));
      }
    }

    private String described() {
      return region.bytes + " spilled bytes at file offset " + region.offset;
    }
  }
}
