// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.List;

/**
 * The strings of more than 12 bytes of a state table, one behind the other: those of keys in the
 * order of the table's rows and, within a row, of its key columns. Each takes whole words, with
 * zeros behind its bytes. Words are only added, and lie in chunks as rows do: a string may begin in
 * one chunk and end in another. Used by one thread.
 */
@Internal
public final class LongStrings implements AutoCloseable {
  /** Rows of a tile: the threads of a block. */
  public static final int TILE_ROWS = 256;

  /** The binary logarithm of the words of a chunk. */
  static final int CHUNK_SHIFT = 19;

  /** Bytes of a chunk at most. */
  public static final long CHUNK_BYTES = StateRows.CHUNK_BYTES;

  private final StateRows words;
  private final ChunkTable chunkTable;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private long wordCount;
  // null until the first update.
  private Buffer scratch;

  /**
   * What an update needs of long strings, as addresses on the device that are valid until its work
   * is done.
   *
   * @param chunkTable address of an INT64 for each chunk of words: its address; 0 if keys have no
   *     strings
   * @param wordCount words of long strings in the state before the batch
   * @param newRows address of an INT32 for each row of the batch: the first rows of new keys
   * @param lookBack address of {@link #lookBackBytes} bytes for the kernel state_strings
   */
  public record Access(long chunkTable, long wordCount, long newRows, long lookBack) {
    public static final Access NONE = new Access(0, 0, 0, 0);

    public long wordAddress(long position) {
      return LongStrings.wordAddress(chunkTable, position);
    }
  }

  /** The address of a word on the host, by the address of a chunk table. */
  public static long wordAddress(long chunkTable, long position) {
    long chunk = HostMemory.getLong(chunkTable + (position >> CHUNK_SHIFT) * Long.BYTES);
    return chunk + (position & ((1L << CHUNK_SHIFT) - 1)) * Long.BYTES;
  }

  public LongStrings(DeviceStream stream, MemoryResource memory) {
    this.words = new StateRows(Long.BYTES, 1, stream, memory);
    this.chunkTable = new ChunkTable(stream, memory);
    this.stream = stream;
    this.memory = memory;
  }

  /** The words of a string of {@code length} bytes; 0 if it is not long. */
  public static int words(int length) {
    return length <= KeyWord.INLINE_BYTES ? 0 : (length - 1) / Long.BYTES + 1;
  }

  /**
   * The most words that strings can take.
   *
   * @param count of strings
   * @param bytes of all strings
   */
  public static long mostWords(long count, long bytes) {
    return bytes / Long.BYTES + Math.min(count, bytes / (KeyWord.INLINE_BYTES + 1));
  }

  /** Tiles of a launch that numbers rows, at least 1 row. */
  public static int tiles(int rows) {
    return (rows - 1) / TILE_ROWS + 1;
  }

  /** Bytes of scratch memory of the kernel state_strings: a word for each tile, and a counter. */
  public static long lookBackBytes(int newKeys) {
    return (tiles(Math.max(newKeys, 1)) + 1L) * Long.BYTES;
  }

  /** The number of words. */
  public long wordCount() {
    return wordCount;
  }

  /** Bytes of all chunks. */
  public long reservedBytes() {
    return words.reservedBytes();
  }

  /** The chunks that were copied on write. Any thread may ask. */
  public CopiedExtents copied() {
    return words.copied();
  }

  /**
   * Makes room for further words, as {@link StateRows#reserve} does.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public void reserve(long newWords) {
    words.reserve(wordCount + newWords);
  }

  /**
   * The addresses for an update that may add the words that there is room for.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public Access access(int batchRows, AccessScope scope) {
    long chunks = write(scope);
    long lookBack = (long) batchRows * Integer.BYTES;
    lookBack = (lookBack + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
    long bytes = lookBack + lookBackBytes(batchRows);
    if (scratch == null || scratch.size() < bytes) {
      Buffer larger = Buffer.allocate(bytes, stream, memory);
      if (scratch != null) {
        scratch.close();
      }
      scratch = larger;
    }
    long newRows = scratch.access(AccessMode.WRITE, scope);
    return new Access(chunks, wordCount, newRows, newRows + lookBack);
  }

  /**
   * The address of the chunk table, for adding the words that there is room for.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public long write(AccessScope scope) {
    return chunkTable.access(words.access(wordCount, scope), scope);
  }

  /** The address of the chunk table, for reading. */
  public long read(AccessScope scope) {
    return chunkTable.access(words.read(scope), scope);
  }

  /**
   * Counts words that an update has written.
   *
   * @throws IllegalStateException if there was no room for them: memory behind was overwritten
   */
  public void added(long newWords) {
    wordCount += newWords;
    if (wordCount * Long.BYTES > words.reservedBytes()) {
      throw new IllegalStateException(
          "expected room for " + wordCount + " words, got " + words.reservedBytes() + " bytes");
    }
  }

  /** The chunks of all words, for reading; the caller closes them. */
  public List<Buffer> share() {
    return words.share(wordCount);
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(words::close);
    failure.run(chunkTable::close);
    if (scratch != null) {
      failure.run(scratch::close);
    }
    failure.rethrow();
  }
}
