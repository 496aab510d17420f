// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.PerDevice;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.List;
import java.util.Objects;

/**
 * The bytes of records, one behind the other, and the position of each. Owns its buffers; its
 * holder closes it once.
 */
@PublicEvolving
public final class RecordBytes implements AutoCloseable {
  private static final PerDevice<LineKernels> KERNELS =
      new PerDevice<>(host -> new HostLineKernels(), CudaLineKernels::new);

  /** The most bytes, so that positions count from an aligned word and beyond the last byte. */
  public static final int MAX_BYTES = Integer.MAX_VALUE - 15;

  /** The most records, so that columns of two words have fewer than 2 Gi words. */
  public static final int MAX_RECORDS = 1 << 30;

  // Fewer bytes than most lines have: rather too much room than a second attempt.
  private static final int BYTES_OF_LINE = 32;

  private final Buffer bytes;
  private final Buffer positions;
  private final int count;

  /**
   * Takes ownership of the buffers.
   *
   * @param bytes at most 2^31 - 16
   * @param positions an INT32 for the first byte of each record, and one behind the last record, in
   *     ascending order
   * @param count of records, at most 2^30
   * @throws IllegalArgumentException if a buffer has a wrong size, or there are more than 2^30
   *     records; the caller still owns both
   */
  public RecordBytes(Buffer bytes, Buffer positions, int count) {
    checkSize(bytes);
    checkCount(count);
    long needed = (count + 1L) * Integer.BYTES;
    if (positions.size() < needed) {
      throw new IllegalArgumentException(
          "expected " + needed + " bytes of positions, got " + positions.size());
    }
    this.bytes = bytes;
    this.positions = positions;
    this.count = count;
  }

  /**
   * The lines of a text: each with its line feed, except the last line, which may lack it. Makes
   * one attempt. Waits for the number of lines.
   *
   * @param text at most 2^31 - 16 bytes; stays the caller's, and is shared
   * @throws IllegalArgumentException if there are too many bytes, or more than 2^30 lines
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public static RecordBytes lines(Buffer text, DeviceStream stream, MemoryResource memory) {
    return findLines(text, null, stream, memory);
  }

  /**
   * As {@link #lines}, but a line feed within quotes ends no record. A quote that is never closed
   * takes all bytes behind it with it.
   *
   * @param text begins with a record
   */
  public static RecordBytes quotedLines(
      Buffer text, FieldQuotes quotes, DeviceStream stream, MemoryResource memory) {
    return findLines(text, Objects.requireNonNull(quotes, "quotes is null"), stream, memory);
  }

  private static RecordBytes findLines(
      Buffer text, FieldQuotes quotes, DeviceStream stream, MemoryResource memory) {
    checkSize(text);
    int size = (int) text.size();
    int capacity = size / BYTES_OF_LINE + 2;
    for (; ; ) {
      Buffer starts = Buffer.allocate((long) capacity * Integer.BYTES, stream, memory);
      try {
        int lines = find(text, size, quotes, starts, capacity, stream, memory);
        if (lines < capacity) {
          return new RecordBytes(text.share(), starts, lines);
        }
        checkCount(lines);
        capacity = lines + 1;
      } catch (RuntimeException | Error e) {
        starts.close();
        throw e;
      }
      starts.close();
    }
  }

  private static int find(
      Buffer text,
      int size,
      FieldQuotes quotes,
      Buffer starts,
      int capacity,
      DeviceStream stream,
      MemoryResource memory) {
    try (AccessScope scope = AccessScope.on(stream)) {
      long target = starts.access(AccessMode.WRITE, scope);
      if (size == 0) {
        stream.fill(target, (byte) 0, Integer.BYTES);
        return 0;
      }
      long address = text.access(AccessMode.READ, scope);
      return KERNELS
          .of(stream.device())
          .find(address, size, quotes, target, capacity, stream, memory);
    }
  }

  private static void checkSize(Buffer bytes) {
    if (bytes.size() > MAX_BYTES) {
      throw new IllegalArgumentException(
          "expected at most " + MAX_BYTES + " bytes of records, got " + bytes.size());
    }
  }

  private static void checkCount(int count) {
    if (count > MAX_RECORDS) {
      throw new IllegalArgumentException(
          "expected at most " + MAX_RECORDS + " records, got " + count);
    }
  }

  /**
   * Some of the records, which keeps the memory of all.
   *
   * @param first the number of the first record
   * @param records {@code first + records} is at most {@link #count}
   */
  public RecordBytes slice(int first, int records) {
    Objects.checkFromIndexSize(first, records, count);
    long start = (long) first * Integer.BYTES;
    return new RecordBytes(
        bytes.share(), positions.slice(start, (records + 1L) * Integer.BYTES), records);
  }

  /** The records as a column of BINARY over the same memory. The caller closes it. */
  public Column toColumn() {
    Column offsets = new Column(DataType.INT32, count + 1, 0, positions.share(), null, List.of());
    return new Column(DataType.BINARY, count, 0, bytes.share(), null, List.of(offsets));
  }

  /** All bytes. */
  public Buffer bytes() {
    return bytes;
  }

  /** An INT32 for the first byte of each record, and one behind the last record. */
  public Buffer positions() {
    return positions;
  }

  /** The number of records. */
  public int count() {
    return count;
  }

  @Override
  public void close() {
    positions.close();
    bytes.close();
  }
}
