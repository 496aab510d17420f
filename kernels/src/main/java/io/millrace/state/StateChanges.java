// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.ResultLayout;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import io.millrace.state.string.TableStrings;
import java.util.ArrayList;
import java.util.List;

/**
 * The result of an update, allocated before it for as many changed keys as the batch has rows: one
 * buffer with the masks of the key columns, which are zero at first, and then the parts of all
 * columns. A changed key has two rows: its values before the update and its values after it.
 */
final class StateChanges implements AutoCloseable {
  private final StateSchema schema;
  private final Schema result;
  private final DeviceStream stream;
  private final long maskBytes;
  private final List<ChangedKeys> keys = new ArrayList<>();
  private final AccumulatorColumns accumulators;
  private final ChangedStrings strings;
  private final long kindsOffset;
  private final Buffer buffer;
  // Of `input`.
  private long output;
  private long stringWords;
  // Of `finish`.
  private int changedKeys;

  /**
   * @param result {@link StateSchema#changes} of {@code schema}
   * @param batch stays open as long as this
   * @param tableStrings of the table
   * @param stateRows of the table
   */
  StateChanges(
      StateSchema schema,
      Schema result,
      Table batch,
      TableStrings tableStrings,
      long stateRows,
      DeviceStream stream,
      MemoryResource memory) {
    this.schema = schema;
    this.result = result;
    this.stream = stream;
    int capacity = Math.multiplyExact(2, batch.rowCount());
    ResultLayout layout = new ResultLayout();
    int keyCount = schema.keys().size();
    for (int i = 0; i < keyCount; i++) {
      layout.add(Column.maskBytes(capacity));
    }
    this.maskBytes = layout.bytes();
    for (int i = 0; i < keyCount; i++) {
      Column input = batch.column(schema.keysOfBatches().get(i));
      long maskOffset = i * Column.maskBytes(capacity);
      keys.add(new ChangedKeys(result.field(i), i, input, capacity, maskOffset, layout, stream));
    }
    this.accumulators = new AccumulatorColumns(schema, capacity, true, layout);
    this.strings =
        new ChangedStrings(schema, batch, tableStrings, stateRows, layout, stream, memory);
    this.kindsOffset = layout.add(capacity);
    this.buffer = Buffer.allocate(layout.bytes(), stream, memory);
  }

  /** The most words that the long strings of the batch's keys take. */
  long mostStringWords() {
    return keys.stream().mapToLong(ChangedKeys::mostStringWords).sum();
  }

  /** The most words that the long strings of the batch's values take. */
  long mostValueWords() {
    return strings.mostWords();
  }

  /**
   * The addresses of the batch's columns and of the result.
   *
   * @param time null if rows have no time
   */
  StateInput input(Table batch, UpdateTime time, AccessScope scope) {
    output = buffer.access(AccessMode.WRITE, scope);
    stringWords = strings.words(accumulators, output, scope);
    if (schema.keysOfBatches().stream().anyMatch(key -> batch.column(key).isNullable())) {
      stream.fill(output, (byte) 0, maskBytes);
    }
    List<KeyWord> words = new ArrayList<>();
    keys.forEach(key -> key.addWords(output, scope, words));
    boolean hasKinds = !schema.takesPartials() && schema.kindColumn() != StateSchema.NO_KINDS;
    long rowKinds = hasKinds ? batch.column(schema.kindColumn()).dataAddress(scope) : 0;
    return new StateInput(
        words,
        schema.hasNullWord(),
        accumulators.valuesOf(batch, time == null ? 0 : time.now(), output, scope),
        rowKinds,
        output + kindsOffset,
        accumulators.sums(output),
        time == null ? Expiry.NEVER : schema.expiryBefore(time.oldest()));
  }

  /**
   * Enqueues the work on the result behind the update: masks of sums and strings of changed keys.
   * Within the scope of {@link #input}.
   *
   * @param changed distinct keys of the batch
   * @param valueChunks address of an INT64 for each chunk of the long strings of values
   */
  void finish(StateInput input, int changed, long valueChunks) {
    changedKeys =
        StateKernels.afterFirstWrite(
            stream,
            () -> {
              if (changed > 0) {
                StateBatch.KERNELS
                    .of(stream.device())
                    .maskOverflows(input.sums(), 2L * changed, stream);
              }
              keys.forEach(key -> key.gatherStrings(2 * changed));
              strings.gather(2 * changed, stringWords, output, valueChunks);
              return changed;
            });
  }

  /** The result behind {@link #finish}, which the caller closes. Called once. */
  Table table() {
    int rows = Math.multiplyExact(2, changedKeys);
    return Table.of(result, rows, position -> column(position, rows));
  }

  private Column column(int position, int rows) {
    if (position < keys.size()) {
      return keys.get(position).column(buffer, rows);
    }
    int accumulator = position - keys.size();
    if (accumulator < schema.accumulators().size()) {
      return schema.accumulators().get(accumulator).isString(schema.input())
          ? strings.column(accumulator, buffer, rows)
          : accumulators.column(accumulator, buffer, rows);
    }
    Buffer kinds = buffer.slice(kindsOffset, rows);
    return new Column(DataType.INT8, rows, 0, kinds, null, List.of());
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(buffer::close);
    failure.run(strings::close);
    failure.rethrow();
  }
}
