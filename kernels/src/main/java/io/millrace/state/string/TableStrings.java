// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.CopiedExtents;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateRows;
import io.millrace.state.row.StateSchema;
import java.util.List;

/** The long strings of a state table: those of its keys and, apart, of its values. */
@Internal
public final class TableStrings implements AutoCloseable {
  private final StateSchema schema;
  private final LongStrings keys;
  private final ValueStrings values;

  /** What an update needs of them. */
  public record Access(LongStrings.Access keys, ValueStrings.Access values) {}

  /**
   * Addresses of an INT64 for each chunk of words: its address; 0 if there are no strings.
   *
   * @param keys of the long strings of keys
   * @param values of the long strings of values
   */
  public record Chunks(long keys, long values) {
    /** Chunks with both. */
    public static Chunks of(long both) {
      return new Chunks(both, both);
    }
  }

  public TableStrings(StateSchema schema, DeviceStream stream, MemoryResource memory) {
    this.schema = schema;
    this.keys = new LongStrings(stream, memory);
    this.values = new ValueStrings(schema, stream, memory);
  }

  /** Bytes of all chunks. */
  public long reservedBytes() {
    return keys.reservedBytes() + values.reservedBytes();
  }

  /** The chunks that were copied on write. Any thread may ask. */
  public CopiedExtents copied() {
    return keys.copied().plus(values.copied());
  }

  /**
   * Checks that strings that grow by those of further rows may do so.
   *
   * @throws IllegalStateException if one has 512 MiB or more
   */
  public void checkGrowth() {
    values.checkGrowth();
  }

  /** The most bytes of {@code strings} strings of values. */
  public long mostValueBytes(long strings) {
    return values.mostBytes(strings);
  }

  /** The most words that the long ones of {@code strings} strings of values take. */
  public long mostValueWords(long strings) {
    return values.mostWords(strings);
  }

  /**
   * Makes room for further words. Gives up strings of values that no row has any more, if there are
   * many: then it writes to the rows, which keep their values.
   *
   * @param newRows rows with these words
   * @param rows of the table
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   * @throws IllegalStateException if a string that grows by those of further rows has 512 MiB or
   *     more
   */
  public void reserve(
      long newKeyWords, long newValueWords, int newRows, StateRows rows, long rowCount) {
    if (schema.hasKeyStrings()) {
      keys.reserve(newKeyWords);
    }
    if (schema.hasValueStrings()) {
      values.reserve(newValueWords, newRows, rows, rowCount);
    }
  }

  /**
   * The addresses for an update that may add the words that there is room for.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public Access access(int batchRows, AccessScope scope) {
    return new Access(
        schema.hasKeyStrings() ? keys.access(batchRows, scope) : LongStrings.Access.NONE,
        schema.hasValueStrings() ? values.access(batchRows, scope) : ValueStrings.Access.NONE);
  }

  /** The address of the chunk table of values that the last {@link #access} gave. */
  public long valueChunks() {
    return values.chunks();
  }

  /**
   * Counts the words of keys that an update has written, and stores the strings of values that it
   * found. Waits for the work.
   *
   * @param changedKeys of the update, at least 1
   */
  public void updated(Access access, long newKeyWords, int changedKeys) {
    keys.added(newKeyWords);
    if (schema.hasValueStrings()) {
      values.place(access.values(), changedKeys);
    }
  }

  /**
   * The addresses for reading.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public Chunks read(AccessScope scope) {
    return new Chunks(
        schema.hasKeyStrings() ? keys.read(scope) : 0,
        schema.hasValueStrings() ? values.read(scope) : 0);
  }

  /** All words, for reading; the caller closes them. */
  public SharedStrings share() {
    List<Buffer> sharedKeys = keys.share();
    try {
      return new SharedStrings(sharedKeys, values.share());
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      sharedKeys.forEach(chunk -> failure.run(chunk::close));
      throw e;
    }
  }

  /** Gives memory back that only updates need. */
  public void releaseScratch() {
    values.releaseScratch();
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(keys::close);
    failure.run(values::close);
    failure.rethrow();
  }
}
