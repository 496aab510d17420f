// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateSchema;
import io.millrace.state.string.SharedStrings;
import java.util.List;
import java.util.stream.Stream;

/**
 * Rows of a state table in pinned host memory, one behind the other, on their way to or from a
 * checkpoint, and their long strings. Their bytes are the same on every device: words in
 * little-endian order; a row names a long string by its first word among those of the block. Used
 * by one thread.
 */
@PublicEvolving
public final class StateBlock implements AutoCloseable {
  /** The position of a word that there is none of. */
  public static final int NO_WORD = -1;

  private final StateSchema schema;
  private final StagingBuffer memory;
  private int rowCount;
  // null if there are none.
  private StagingBuffer strings;
  private long stringBytes;

  /**
   * @param device that the memory is pinned for
   * @param rowCount rows that the caller writes to {@link #address}
   * @param stringBytes bytes of long strings that the caller writes to {@link #stringAddress}
   * @throws io.millrace.device.GpuOutOfMemoryException if the host cannot pin that much
   */
  public StateBlock(StateSchema schema, int rowCount, long stringBytes, Device device) {
    this.schema = schema;
    this.rowCount = rowCount;
    this.memory = device.stagingPool().acquire((long) rowCount * schema.rowBytes());
    try {
      this.strings = stringBytes == 0 ? null : device.stagingPool().acquire(stringBytes);
      this.stringBytes = stringBytes;
    } catch (RuntimeException | Error e) {
      memory.close();
      throw e;
    }
  }

  public int rowCount() {
    return rowCount;
  }

  /** Bytes of the rows. */
  public int byteCount() {
    return rowCount * schema.rowBytes();
  }

  /** The host address of the rows, valid until this is closed. */
  public long address() {
    return memory.address();
  }

  /** Bytes of the long strings of the rows: whole words. */
  public long stringBytes() {
    return stringBytes;
  }

  /** The host address of the long strings; 0 if there are none. */
  public long stringAddress() {
    return strings == null ? 0 : strings.address();
  }

  /**
   * Whether each long string lies within {@link #stringBytes}, and they take no more words than
   * there are.
   */
  public boolean hasAllStrings() {
    long left = stringBytes / Long.BYTES;
    for (int tail : allTails()) {
      for (int row = 0; row < rowCount; row++) {
        int length = length(row, tail);
        long first = word(row, tail);
        long words = LongStrings.words(length);
        left -= words;
        if (length < 0
            || left < 0
            || (words > 0 && (first < 0 || first > stringBytes / Long.BYTES - words))) {
          return false;
        }
      }
    }
    return true;
  }

  private List<Integer> allTails() {
    return Stream.concat(schema.tails().stream(), schema.valueTails().stream()).toList();
  }

  /** A word of a row. */
  long word(int row, int word) {
    return HostMemory.getLong(wordAddress(row, word));
  }

  long wordAddress(int row, int word) {
    return address() + (long) row * schema.rowBytes() + (long) word * Long.BYTES;
  }

  /** Bytes of the string with this tail. */
  int length(int row, int tail) {
    return (int) word(row, tail - 1);
  }

  /**
   * Copies the long strings of these rows and waits for them. The numbers of their words count from
   * the first one from now on. Gives rows up that would make the block larger than {@code
   * mostBytes}, but not the first row.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if the host cannot pin that much, or there
   *     is no room to bring strings back from disk
   */
  void takeStrings(long mostBytes, SharedStrings source, Device device, AccessScope scope) {
    if (!schema.hasStrings()) {
      return;
    }
    List<Integer> tails = schema.tails();
    // The strings of the keys of consecutive rows lie one behind the other.
    long first = -1;
    long end = -1;
    long valueWords = 0;
    for (int row = 0; row < rowCount; row++) {
      long endOfRow = end;
      for (int tail : tails) {
        int words = LongStrings.words(length(row, tail));
        if (words > 0) {
          first = first < 0 ? word(row, tail) : first;
          endOfRow = word(row, tail) + words;
        }
      }
      long valuesOfRow = valueWords;
      for (int tail : schema.valueTails()) {
        valuesOfRow += LongStrings.words(length(row, tail));
      }
      long words = valuesOfRow + (endOfRow < 0 ? 0 : endOfRow - first);
      long bytes = (row + 1L) * schema.rowBytes() + words * Long.BYTES;
      if (row > 0 && bytes > mostBytes) {
        rowCount = row;
      } else {
        end = endOfRow;
        valueWords = valuesOfRow;
      }
    }
    long keyWords = end < 0 ? 0 : end - first;
    if (keyWords + valueWords == 0) {
      return;
    }
    stringBytes = (keyWords + valueWords) * Long.BYTES;
    strings = device.stagingPool().acquire(stringBytes);
    if (keyWords > 0) {
      long[] chunks = SharedStrings.read(source.keys(), scope);
      SharedStrings.copy(chunks, first, keyWords, strings.address(), scope);
      moveTails(first);
    }
    if (valueWords > 0) {
      copyValues(SharedStrings.read(source.values(), scope), keyWords, scope);
    }
    scope.stream().synchronize();
  }

  private void moveTails(long first) {
    for (int row = 0; row < rowCount; row++) {
      for (int tail : schema.tails()) {
        if (LongStrings.words(length(row, tail)) > 0) {
          HostMemory.putLong(wordAddress(row, tail), word(row, tail) - first);
        }
      }
    }
  }

  // Strings that happen to lie one behind the other are copied together.
  private void copyValues(long[] chunks, long firstTarget, AccessScope scope) {
    long target = firstTarget;
    long source = 0;
    long copied = firstTarget;
    for (int row = 0; row < rowCount; row++) {
      for (int tail : schema.valueTails()) {
        int words = LongStrings.words(length(row, tail));
        if (words > 0) {
          long place = word(row, tail);
          if (place != source + (target - copied)) {
            copyWords(chunks, source, copied, target, scope);
            source = place;
            copied = target;
          }
          HostMemory.putLong(wordAddress(row, tail), target);
          target += words;
        }
      }
    }
    copyWords(chunks, source, copied, target, scope);
  }

  private void copyWords(long[] chunks, long source, long first, long end, AccessScope scope) {
    if (end > first) {
      long address = strings.address() + first * Long.BYTES;
      SharedStrings.copy(chunks, source, end - first, address, scope);
    }
  }

  /**
   * The key columns of the rows, in host memory; the caller closes the table.
   *
   * @param hostStream a stream of the host
   * @param hostMemory memory of the host
   */
  public Table keys(DeviceStream hostStream, MemoryResource hostMemory) {
    return new BlockKeys(schema, this, hostStream, hostMemory).table();
  }

  /**
   * Keeps some of the rows, in their order, and all long strings.
   *
   * @param rows row numbers in ascending order
   * @param count how many of {@code rows} count
   */
  public void keep(int[] rows, int count) {
    int rowBytes = schema.rowBytes();
    for (int i = 0; i < count; i++) {
      if (rows[i] != i) {
        HostMemory.copy(
            address() + (long) i * rowBytes, address() + (long) rows[i] * rowBytes, rowBytes);
      }
    }
    rowCount = count;
  }

  /**
   * Gives the rows up that have expired, but keeps all long strings.
   *
   * @param expiry of this block's schema, whose rows have a time
   * @return how many were given up
   */
  public int removeExpired(Expiry expiry) {
    int[] live = new int[rowCount];
    int count = 0;
    for (int row = 0; row < rowCount; row++) {
      if (!expiry.isExpired(word(row, schema.firstAccumulator()))) {
        live[count++] = row;
      }
    }
    int expired = rowCount - count;
    keep(live, count);
    return expired;
  }

  /**
   * These rows with other accumulators: makes one attempt. The caller closes both blocks.
   *
   * @param target a schema with the same keys
   * @param positions for each word of the accumulators of {@code target} the position of the word
   *     of this block's accumulators that has its value; {@link #NO_WORD} if none has: it is {@code
   *     missing}
   * @param device as in the constructor
   * @throws io.millrace.device.GpuOutOfMemoryException if the host cannot pin that much
   */
  public StateBlock withAccumulators(
      StateSchema target, int[] positions, long missing, Device device) {
    StateBlock block = new StateBlock(target, rowCount, stringBytes, device);
    HostMemory.copy(block.stringAddress(), stringAddress(), stringBytes);
    HostMemory.fill(block.address(), block.byteCount(), (byte) 0);
    int keyBytes = schema.firstAccumulator() * Long.BYTES;
    for (int row = 0; row < rowCount; row++) {
      long from = address() + (long) row * schema.rowBytes();
      long to = block.address() + (long) row * target.rowBytes();
      HostMemory.copy(to, from, keyBytes);
      for (int i = 0; i < positions.length; i++) {
        long source = from + keyBytes + (long) positions[i] * Long.BYTES;
        long word = positions[i] == NO_WORD ? missing : HostMemory.getLong(source);
        HostMemory.putLong(to + keyBytes + (long) i * Long.BYTES, word);
      }
    }
    return block;
  }

  /**
   * Makes the bits of an integer those of a wider one, in each row.
   *
   * @param word of the accumulators, with a first or last value
   * @param bytes of the integer
   * @param widerBytes of the wider one
   */
  public void widen(int word, int bytes, int widerBytes) {
    int unused = Long.SIZE - bytes * Byte.SIZE;
    long mask = -1L >>> (Long.SIZE - widerBytes * Byte.SIZE);
    for (int row = 0; row < rowCount; row++) {
      long address = wordAddress(row, schema.firstAccumulator() + word);
      HostMemory.putLong(address, ((HostMemory.getLong(address) << unused) >> unused) & mask);
    }
  }

  @Override
  public void close() {
    memory.close();
    if (strings != null) {
      strings.close();
    }
  }
}
