// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.ChunkTable;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.ResultLayout;
import io.millrace.state.row.StateSchema;
import io.millrace.state.string.StringColumn;
import io.millrace.state.string.TableStrings;
import java.util.ArrayList;
import java.util.List;

/**
 * The strings of accumulators in the result of an update. The update writes two words for each, as
 * they are in state rows; the bytes are gathered behind it, from the long strings of the state,
 * which has those of before the update too.
 */
final class ChangedStrings implements AutoCloseable {
  private static final int MAX_BYTES = Integer.MAX_VALUE;
  // Rows of a column: more than a result has.
  private static final int ROWS_SHIFT = 31;
  private static final int ROW_WORDS = 2;

  private final StateSchema schema;
  private final DeviceStream stream;
  private final List<Place> places = new ArrayList<>();
  // The addresses of the words of each column.
  private final ChunkTable words;
  private long mostWords;

  /**
   * Places in the buffer of the result.
   *
   * @param accumulator its position
   */
  private record Place(int accumulator, long offsets, long lookBack, long bytes, int byteCount) {}

  /**
   * @param strings of the table
   * @param stateRows of the table
   * @param layout takes the columns, for two rows for each row of {@code batch}
   * @throws GpuOutOfMemoryException if strings of the result might have more than 2 Gi bytes, or
   *     there is too little staging memory
   * @throws IllegalStateException if a string that grows by those of further rows has 512 MiB or
   *     more
   */
  ChangedStrings(
      StateSchema schema,
      Table batch,
      TableStrings strings,
      long stateRows,
      ResultLayout layout,
      DeviceStream stream,
      MemoryResource memory) {
    this.schema = schema;
    this.stream = stream;
    this.words = new ChunkTable(stream, memory);
    strings.checkGrowth();
    int capacity = Math.multiplyExact(2, batch.rowCount());
    for (int i = 0; i < schema.accumulators().size(); i++) {
      Accumulator accumulator = schema.accumulators().get(i);
      if (accumulator.isString(schema.input())) {
        Column input = batch.column(accumulator.column());
        int batchBytes = ChangedKeys.stringBytes(input, stream);
        mostWords += LongStrings.mostWords(input.size(), batchBytes);
        long known = Math.min(batch.rowCount(), stateRows);
        int bytes = bytes(strings.mostValueBytes(known), batchBytes);
        places.add(
            new Place(
                i,
                layout.add((capacity + 1L) * Integer.BYTES),
                layout.add(Long.BYTES + LongStrings.lookBackBytes(capacity)),
                layout.add(bytes),
                bytes));
      }
    }
  }

  // A value of before the update may be that of after it too.
  private static int bytes(long mostBefore, long batchBytes) {
    if (mostBefore > (MAX_BYTES - batchBytes) / 2) {
      throw new GpuOutOfMemoryException("a column holds at most 2 Gi bytes or elements");
    }
    return (int) (2 * mostBefore + batchBytes);
  }

  /** The most words that the long strings of the batch take. */
  long mostWords() {
    return mostWords;
  }

  /**
   * The address of the table with the addresses of the words of each column.
   *
   * @param output address of the buffer of the result
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  long words(AccumulatorColumns columns, long output, AccessScope scope) {
    if (places.isEmpty()) {
      return 0;
    }
    long[] addresses =
        places.stream().mapToLong(place -> output + columns.words(place.accumulator)).toArray();
    return words.access(addresses, scope);
  }

  /**
   * Enqueues the gather of the strings of {@code rows} rows.
   *
   * @param wordsTable of {@link #words}
   * @param chunks address of an INT64 for each chunk of {@link LongStrings}, its address
   */
  void gather(int rows, long wordsTable, long output, long chunks) {
    for (int i = 0; i < places.size(); i++) {
      Place place = places.get(i);
      if (rows == 0) {
        stream.fill(output + place.offsets, (byte) 0, Integer.BYTES);
        continue;
      }
      StringColumn column =
          new StringColumn(
              (long) i << ROWS_SHIFT,
              rows,
              ROW_WORDS,
              wordsTable,
              ROWS_SHIFT,
              0,
              chunks,
              output + place.offsets,
              output + place.bytes,
              output + place.lookBack + Long.BYTES,
              stream);
      column.writeOffsets(output + place.lookBack);
      column.writeBytes();
    }
  }

  /** The first rows of a column over slices of the buffer; the caller closes it. */
  Column column(int accumulator, Buffer buffer, int rows) {
    Place place =
        places.stream().filter(p -> p.accumulator == accumulator).findFirst().orElseThrow();
    DataType type = schema.accumulators().get(accumulator).type(schema.input());
    Buffer offsets = buffer.slice(place.offsets, (rows + 1L) * Integer.BYTES);
    Column offsetColumn = new Column(DataType.INT32, rows + 1, 0, offsets, null, List.of());
    Buffer bytes = buffer.slice(place.bytes, place.byteCount);
    return new Column(type, rows, 0, bytes, null, List.of(offsetColumn));
  }

  @Override
  public void close() {
    words.close();
  }
}
