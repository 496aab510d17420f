// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.ChunkTable;
import io.millrace.state.row.CopiedExtents;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateRows;
import io.millrace.state.row.StateSchema;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The strings of more than 12 bytes in the values of a state table, in the order in which batches
 * brought them. Words are only added: a string stays when its value is replaced. When as many words
 * were added as the rows had, the strings that the rows have now are counted, and copied one behind
 * the other, in the order of the rows, if they are at most half of all. Used by one thread.
 */
@Internal
public final class ValueStrings implements AutoCloseable {
  // So many words, or one for each row, are added at least before the next look at the rows.
  private static final long MIN_GARBAGE_WORDS = 1 << 13;
  private static final int MOVES_OF_PASS = 1 << 16;
  private static final long MAX_GROWING_BYTES = 1L << 29;

  private final StateSchema schema;
  private final DeviceStream stream;
  private final MemoryResource memory;
  // Read by threads that report metrics.
  private volatile LongStrings words;
  private volatile CopiedExtents copiedBefore = CopiedExtents.NONE;
  private StringLengths lengths = new StringLengths();
  private long nextLook = MIN_GARBAGE_WORDS;
  // Whether the last look ran out of memory.
  private boolean lacksMemory;
  // Of the last access.
  private long chunks;
  // null until the first update, and while they are given back.
  private Buffer scratch;
  private StagingBuffer counts;

  /**
   * What an update needs of the strings of values, as addresses on the device that are valid until
   * its work is done.
   *
   * @param chunkTable address of an INT64 for each chunk of words: its address; 0 if values have no
   *     strings
   * @param moves address of {@link StringMoves#BYTES} for each value of each changed key, which the
   *     update writes
   * @param allPieces address of {@link StringMoves#PIECE_BYTES} for each row of the batch and each
   *     value that grows by further rows, which the update writes
   */
  public record Access(long chunkTable, long moves, long allPieces, long scratch) {
    public static final Access NONE = new Access(0, 0, 0, 0);

    /**
     * The address of the pieces of a value that grows by further rows.
     *
     * @param list how many such values are before it
     */
    public long pieces(int list, int batchRows) {
      return allPieces + (long) list * batchRows * StringMoves.PIECE_BYTES;
    }
  }

  ValueStrings(StateSchema schema, DeviceStream stream, MemoryResource memory) {
    this.schema = schema;
    this.stream = stream;
    this.memory = memory;
    this.words = new LongStrings(stream, memory);
  }

  private static long lists(StateSchema schema) {
    return schema.accumulators().stream().filter(Accumulator::isList).count();
  }

  private int tails() {
    return schema.valueTails().size();
  }

  long reservedBytes() {
    return words.reservedBytes();
  }

  CopiedExtents copied() {
    return copiedBefore.plus(words.copied());
  }

  long mostBytes(long strings) {
    return lengths.mostBytes(strings);
  }

  long mostWords(long strings) {
    return lengths.mostWords(strings);
  }

  // The most words of strings that grow: those that rows of the table have, and those of new rows
  // behind them.
  private long mostGrownWords(long newWords, int newRows, long rowCount) {
    long newBytes = newWords * Long.BYTES + (long) newRows * StringLengths.SHORT_BYTES;
    long bytes = lengths.mostBytes(Math.min(newRows, rowCount)) + newBytes;
    return LongStrings.mostWords(newRows, bytes);
  }

  /**
   * Checks that strings that grow stay below 2 GiB with those of a batch.
   *
   * @throws IllegalStateException if one has 512 MiB or more
   */
  void checkGrowth() {
    checkGrowth(schema, lengths);
  }

  static void checkGrowth(StateSchema schema, StringLengths lengths) {
    if (lists(schema) > 0 && lengths.mostBytes(1) >= MAX_GROWING_BYTES) {
      String lists =
          schema.accumulators().stream()
              .filter(Accumulator::isList)
              .map(Accumulator::name)
              .collect(Collectors.joining("', '"));
      throw new IllegalStateException(
          "expected strings of less than 512 MiB for LISTAGG '" + lists + "'");
    }
  }

  List<Buffer> share() {
    return words.share();
  }

  long read(AccessScope scope) {
    return words.read(scope);
  }

  /**
   * Makes room for further words, and gives up strings that no row has any more: makes one attempt.
   *
   * @param newWords of the strings of new rows, which may belong to keys of the table
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   * @throws IllegalStateException if a string that grows has 512 MiB or more
   */
  void reserve(long newWords, int newRows, StateRows rows, long rowCount) {
    checkGrowth();
    if (words.wordCount() > nextLook) {
      lookForGarbage(rows, rowCount);
    }
    words.reserve(newWords + lists(schema) * mostGrownWords(newWords, newRows, rowCount));
  }

  // An update that is repeated after memory was freed, but still not enough, does without.
  private void lookForGarbage(StateRows rows, long rowCount) {
    try {
      giveUpGarbage(rows, rowCount);
      lacksMemory = false;
    } catch (GpuOutOfMemoryException e) {
      lacksMemory = !lacksMemory;
      if (lacksMemory) {
        throw e;
      }
      nextLook = words.wordCount() + garbage(words.wordCount(), rowCount);
    }
  }

  private static long garbage(long live, long rowCount) {
    return Math.max(Math.max(live, rowCount), MIN_GARBAGE_WORDS);
  }

  private void giveUpGarbage(StateRows rows, long rowCount) {
    int passRows = (int) Math.min(rowCount, MOVES_OF_PASS / tails());
    long movesBytes = (long) passRows * tails() * StringMoves.BYTES;
    long bytes = movesBytes + StringMoves.scratchBytes(passRows * tails());
    // null if the words stay.
    LongStrings copies;
    try (Buffer pass = Buffer.allocate(bytes, stream, memory);
        ChunkTable rowChunks = new ChunkTable(stream, memory);
        StagingBuffer passCounts = stream.device().stagingPool().acquire(StringMoves.COUNT_BYTES);
        AccessScope scope = AccessScope.on(stream)) {
      long moves = pass.access(AccessMode.WRITE, scope);
      long source = words.read(scope);
      Pass look = new Pass(moves, moves + movesBytes, passRows, rowCount, passCounts.address());
      long live =
          look.run(rowChunks.access(rows.read(scope), scope), rows.chunkShift(), source, 0, null);
      copies = live <= words.wordCount() / 2 ? new LongStrings(stream, memory) : null;
      if (copies != null) {
        try {
          copies.reserve(live);
          long target = copies.write(scope);
          long chunks = rowChunks.access(rows.access(scope), scope);
          StringLengths copied = new StringLengths();
          look.run(chunks, rows.chunkShift(), source, target, copied);
          copies.added(live);
          lengths = copied;
        } catch (RuntimeException | Error e) {
          copies.close();
          throw e;
        }
      }
      nextLook = (copies == null ? words : copies).wordCount() + garbage(live, rowCount);
    }
    if (copies != null) {
      copiedBefore = copied();
      words.close();
      words = copies;
    }
  }

  /** Moves the strings of all rows, some rows at a time. */
  private final class Pass {
    private final long moves;
    private final long passScratch;
    private final int passRows;
    private final long rowCount;
    private final long countsAddress;

    Pass(long moves, long passScratch, int passRows, long rowCount, long countsAddress) {
      this.moves = moves;
      this.passScratch = passScratch;
      this.passRows = passRows;
      this.rowCount = rowCount;
      this.countsAddress = countsAddress;
    }

    // Gives the words of all strings. They are only counted if `target` is 0.
    long run(long chunks, int chunkShift, long source, long target, StringLengths copied) {
      long moved = 0;
      for (long row = 0; row < rowCount; row += passRows) {
        int count = (int) Math.min(passRows, rowCount - row);
        StoredStrings stored =
            new StoredStrings(
                schema.valueTails(), row, count, schema.rowWords(), chunks, chunkShift, source);
        StringMoves.kernels(stream).fill(stored, moves, stream);
        int strings = count * tails();
        moved += move(new StringMoves(moves, strings, target, moved, passScratch, stream), copied);
      }
      return moved;
    }

    private long move(StringMoves strings, StringLengths copied) {
      return ValueStrings.this.move(strings, countsAddress, copied);
    }
  }

  // Gives the words of the strings, which are added to `added` if it is not null.
  private long move(StringMoves strings, long countsAddress, StringLengths added) {
    strings.run();
    stream.copy(countsAddress, strings.scratch(), StringMoves.COUNT_BYTES);
    stream.synchronize();
    if (added != null) {
      added.add(countsAddress + Long.BYTES);
    }
    return HostMemory.getLong(countsAddress);
  }

  /**
   * The addresses for an update that may add the words that there is room for.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  Access access(int batchRows, AccessScope scope) {
    StringMoves.kernels(stream);
    int moves = Math.multiplyExact(batchRows, tails());
    long movesBytes = (long) moves * StringMoves.BYTES;
    long piecesBytes = lists(schema) * batchRows * StringMoves.PIECE_BYTES;
    long bytes = movesBytes + piecesBytes + StringMoves.scratchBytes(moves);
    if (counts == null) {
      counts = stream.device().stagingPool().acquire(StringMoves.COUNT_BYTES);
    }
    if (scratch == null || scratch.size() < bytes) {
      Buffer larger = Buffer.allocate(bytes, stream, memory);
      releaseScratch();
      scratch = larger;
    }
    long address = scratch.access(AccessMode.WRITE, scope);
    chunks = words.write(scope);
    long pieces = address + movesBytes;
    return new Access(chunks, address, pieces, pieces + piecesBytes);
  }

  long chunks() {
    return chunks;
  }

  /**
   * Stores the long strings whose moves an update wrote. Waits for the work.
   *
   * @param changedKeys of the update
   */
  void place(Access access, int changedKeys) {
    int count = changedKeys * tails();
    StringMoves moves =
        new StringMoves(
            access.moves(),
            count,
            access.chunkTable(),
            words.wordCount(),
            access.scratch(),
            stream);
    words.added(move(moves, counts.address(), lengths));
  }

  /** Gives memory back that only updates need. */
  void releaseScratch() {
    if (scratch != null) {
      scratch.close();
      scratch = null;
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(words::close);
    failure.run(this::releaseScratch);
    if (counts != null) {
      failure.run(counts::close);
    }
    failure.rethrow();
  }
}
