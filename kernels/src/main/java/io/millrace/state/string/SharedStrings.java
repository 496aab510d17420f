// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.annotation.Internal;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.state.row.LongStrings;
import java.util.List;

/**
 * The long strings of a state table at one moment, shared with the table.
 *
 * @param keys the chunks of the words of keys
 * @param values the chunks of the words of values
 */
@Internal
public record SharedStrings(List<Buffer> keys, List<Buffer> values) implements AutoCloseable {

  /** Words of the strings of keys. */
  public long keyWords() {
    return words(keys);
  }

  /** Words of the strings of values, also of strings that no row has any more. */
  public long valueWords() {
    return words(values);
  }

  private static long words(List<Buffer> chunks) {
    return chunks.stream().mapToLong(Buffer::size).sum() / Long.BYTES;
  }

  /** The addresses of chunks, for reading. */
  public static long[] read(List<Buffer> chunks, AccessScope scope) {
    return chunks.stream()
        .mapToLong(chunk -> chunk.accessInPlace(AccessMode.READ, scope))
        .toArray();
  }

  /**
   * Copies words. Enqueued.
   *
   * @param chunks of {@link #read}
   * @param target host address
   */
  public static void copy(
      long[] chunks, long firstWord, long words, long target, AccessScope scope) {
    long end = (firstWord + words) * Long.BYTES;
    long address = target;
    for (long position = firstWord * Long.BYTES; position < end; ) {
      long offset = position % LongStrings.CHUNK_BYTES;
      long count = Math.min(end - position, LongStrings.CHUNK_BYTES - offset);
      long chunk = chunks[(int) (position / LongStrings.CHUNK_BYTES)];
      scope.stream().copy(address, chunk + offset, count);
      position += count;
      address += count;
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    keys.forEach(chunk -> failure.run(chunk::close));
    values.forEach(chunk -> failure.run(chunk::close));
    failure.rethrow();
  }
}
