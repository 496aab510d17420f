// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.format.RecordBytes;
import io.millrace.format.text.TextCursor;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;

/**
 * Where the bytes of records go, by words of eight bytes: host memory that grows. The twin of
 * {@code text_sink.cuh}, which knows how many bytes there will be, and so puts a field of CSV
 * twice; this moves a field that turns out to need quotes. Used by one thread; closed once.
 */
final class TextSink implements AutoCloseable {
  private static final int MIN_CAPACITY = 1 << 10;

  private final DeviceStream stream;
  private final MemoryResource memory;
  private final char delimiter;

  private Buffer buffer;
  private AccessScope scope;
  private long start;
  private long at;
  private long limit;

  // The bytes before the field of CSV that is put.
  private long fieldStart;

  /**
   * @param capacity bytes to begin with
   * @param delimiter of fields of CSV
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  TextSink(long capacity, char delimiter, DeviceStream stream, MemoryResource memory) {
    this.stream = stream;
    this.memory = memory;
    this.delimiter = delimiter;
    this.buffer = Buffer.allocate(Math.max(MIN_CAPACITY, capacity), stream, memory);
    this.scope = AccessScope.on(stream);
    try {
      this.start = buffer.access(AccessMode.WRITE, scope);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
    this.at = start;
    this.limit = start + buffer.size();
  }

  /** Bytes that were put. */
  long bytes() {
    return at - start;
  }

  /** The memory of the bytes that were put, which the caller closes. */
  Buffer finish() {
    return buffer.slice(0, bytes());
  }

  /**
   * Makes room, where {@link #advance} puts what the caller writes there.
   *
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  long reserve(long count) {
    if (limit - at < count) {
      grow(count);
    }
    return at;
  }

  /** Puts bytes that were written behind the others. */
  void advance(int count) {
    at += count;
  }

  private void grow(long count) {
    long bytes = bytes();
    checkSize(bytes);
    long capacity = Math.max(2 * buffer.size(), bytes + count);
    try (TextSink larger = new TextSink(capacity, delimiter, stream, memory)) {
      HostMemory.copy(larger.start, start, bytes);
      swapMemory(larger);
    }
    at = start + bytes;
  }

  // Closing the other one then frees what was this one's.
  private void swapMemory(TextSink other) {
    Buffer otherBuffer = other.buffer;
    AccessScope otherScope = other.scope;
    other.buffer = buffer;
    other.scope = scope;
    buffer = otherBuffer;
    scope = otherScope;
    start = other.start;
    limit = other.limit;
  }

  /**
   * Checks a number of bytes.
   *
   * @throws GpuOutOfMemoryException if there are more than records may have
   */
  static void checkSize(long bytes) {
    if (bytes > RecordBytes.MAX_BYTES) {
      throw new GpuOutOfMemoryException(
          "expected at most "
              + RecordBytes.MAX_BYTES
              + " bytes of records at once, got at least "
              + bytes);
    }
  }

  /** Puts up to eight bytes, the first one lowest; those above do not matter. */
  void put(long word, int count) {
    reserve(Long.BYTES);
    HostMemory.putLong(at, word);
    at += count;
  }

  void put(char ascii) {
    put(ascii, 1);
  }

  /** Puts text that is given as words. */
  void put(long[] words, int count) {
    for (int i = 0; i < count; i += Long.BYTES) {
      put(words[i / Long.BYTES], Math.min(Long.BYTES, count - i));
    }
  }

  /** A mask of the lowest bytes of a word. */
  static long lowestBytes(int count) {
    return count >= Long.BYTES ? -1 : (1L << (count * Byte.SIZE)) - 1;
  }

  /** Begins a field of CSV. */
  void beginField() {
    fieldStart = bytes();
  }

  /** Ends a field of CSV: puts quotes around it if it needs them. */
  void endField() {
    reserve(Long.BYTES);
    if (bytes() == fieldStart || hasSpecial(start + fieldStart)) {
      quoteField();
    }
  }

  private boolean hasSpecial(long from) {
    for (long i = from; i < at; i += Long.BYTES) {
      long word = HostMemory.getLong(i);
      long special =
          TextCursor.bytesEqual(word, delimiter)
              | TextCursor.bytesEqual(word, '"')
              | TextCursor.bytesEqual(word, '\n')
              | TextCursor.bytesEqual(word, '\r');
      if ((special & lowestBytes((int) Math.min(Long.BYTES, at - i))) != 0) {
        return true;
      }
    }
    return false;
  }

  private void quoteField() {
    int quotes = 2;
    for (long i = start + fieldStart; i < at; i++) {
      quotes += HostMemory.getByte(i) == '"' ? 1 : 0;
    }
    reserve(quotes);
    long source = at;
    at += quotes;
    long target = at - 1;
    HostMemory.putByte(target, (byte) '"');
    while (source > start + fieldStart) {
      byte next = HostMemory.getByte(--source);
      HostMemory.putByte(--target, next);
      if (next == '"') {
        HostMemory.putByte(--target, next);
      }
    }
    HostMemory.putByte(target - 1, (byte) '"');
  }

  /** Frees the memory, except what {@link #finish} gave. */
  @Override
  public void close() {
    scope.close();
    buffer.close();
  }
}
