// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.kernel.gather.StringGather;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.ResultLayout;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;

/**
 * A key column in the result of an update: where its parts lie in the buffer of the result. Values
 * of fixed width are written by the update; of a string it writes the row of the batch that has it,
 * and the bytes are gathered behind the update.
 */
final class ChangedKeys {
  private static final int MAX_BYTES = Integer.MAX_VALUE / 2;

  private final Field field;
  private final Column input;
  private final int key;
  private final long maskOffset;
  private final DeviceStream stream;
  // Places in the buffer. Of strings: bytes, offsets, rows and scratch memory; of others: data.
  private final List<Long> parts = new ArrayList<>();
  private final int stringBytes;
  // Only of strings, from addWords on.
  private StringGather gather;
  private long gatherMap;

  /**
   * @param key position of the column in the key
   * @param input the column of the batch
   * @param capacity rows of the result at most
   * @param maskOffset place of the column's mask in the buffer
   * @param layout takes the other parts
   * @throws GpuOutOfMemoryException if strings of the result would have more than 2 Gi bytes, or
   *     there is too little staging memory
   */
  ChangedKeys(
      Field field,
      int key,
      Column input,
      int capacity,
      long maskOffset,
      ResultLayout layout,
      DeviceStream stream) {
    this.field = field;
    this.key = key;
    this.input = input;
    this.maskOffset = maskOffset;
    this.stream = stream;
    TypeId id = field.type().id();
    this.stringBytes = id.isVariableWidth() ? stringBytes(input, stream) : 0;
    if (id.isVariableWidth()) {
      parts.add(layout.add(outputBytes()));
      parts.add(layout.add((capacity + 1L) * Integer.BYTES));
      parts.add(layout.add((long) capacity * Integer.BYTES));
      parts.add(layout.add(StringGather.scratchBytes(capacity, outputBytes())));
    } else if (id == TypeId.TIMESTAMP_NANOS) {
      parts.add(layout.add((long) capacity * Long.BYTES));
      parts.add(layout.add((long) capacity * Integer.BYTES));
    } else {
      parts.add(layout.add((long) capacity * id.byteWidth()));
    }
  }

  /**
   * The words of the keys of a batch, of which no result is written; valid as long as the batch and
   * the scope are.
   *
   * @param batch of the schema's input; stays the caller's
   */
  static List<KeyWord> words(StateSchema schema, Table batch, AccessScope scope) {
    List<KeyWord> words = new ArrayList<>();
    try (Table noRows = batch.slice(0, 0)) {
      for (int i = 0; i < schema.keys().size(); i++) {
        Column input = noRows.column(schema.keysOfBatches().get(i));
        new ChangedKeys(
                schema.keySchema().field(i), i, input, 0, 0, new ResultLayout(), scope.stream())
            .addWords(0, scope, words);
      }
    }
    return words;
  }

  // The bytes of a column's strings: for a slice of a larger column only the device knows them.
  static int stringBytes(Column strings, DeviceStream stream) {
    Column offsets = strings.child(0);
    long all = strings.data().orElseThrow().size();
    boolean isWhole = strings.offset() == 0 && offsets.size() == strings.size() + 1;
    if (strings.size() == 0) {
      return 0;
    }
    if (isWhole && all <= MAX_BYTES) {
      return (int) all;
    }
    try (StagingBuffer ends = stream.device().stagingPool().acquire(2 * Integer.BYTES);
        AccessScope scope = AccessScope.on(stream)) {
      long first = childAddress(strings, 0, scope);
      long last = first + (long) strings.size() * Integer.BYTES;
      stream.copy(ends.address(), first, Integer.BYTES);
      stream.copy(ends.address() + Integer.BYTES, last, Integer.BYTES);
      stream.synchronize();
      return HostMemory.getInt(ends.address() + Integer.BYTES) - HostMemory.getInt(ends.address());
    }
  }

  // Each string is in the row before the update and in the row after it.
  private int outputBytes() {
    if (stringBytes > MAX_BYTES) {
      throw new GpuOutOfMemoryException("a column holds at most 2 Gi bytes or elements");
    }
    return 2 * stringBytes;
  }

  /** The most words that the long strings of the batch take. */
  long mostStringWords() {
    return LongStrings.mostWords(input.size(), stringBytes);
  }

  /**
   * The most words that the long strings of a batch's columns take; columns of other types have
   * none.
   *
   * @throws GpuOutOfMemoryException if there is too little staging memory
   */
  static long mostStringWords(List<Integer> columns, Table batch, DeviceStream stream) {
    return columns.stream()
        .map(batch::column)
        .filter(column -> column.type().id().isVariableWidth())
        .mapToLong(strings -> LongStrings.mostWords(strings.size(), stringBytes(strings, stream)))
        .sum();
  }

  // Children are not narrowed to a slice of their column.
  static long childAddress(Column column, int position, AccessScope scope) {
    Column child = column.child(position);
    return child.dataAddress(scope) + (long) column.offset() * child.type().id().byteWidth();
  }

  /**
   * Adds the words of the column.
   *
   * @param output address of the buffer of the result
   */
  void addWords(long output, AccessScope scope, List<KeyWord> words) {
    TypeId id = field.type().id();
    long validity = input.validity().map(m -> m.access(AccessMode.READ, scope)).orElse(0L);
    long outputMask = input.isNullable() ? output + maskOffset : 0;
    int nullBit = field.nullable() ? key : KeyWord.NO_NULL_BIT;
    // The first word of a column writes its mask and has its bit of the null word.
    KeyWord first =
        new KeyWord(0, 0, validity, input.offset(), 0, outputMask, 0, 0, KeyWord.BITS, nullBit);
    KeyWord next =
        new KeyWord(0, 0, validity, input.offset(), 0, 0, 0, 0, KeyWord.BITS, KeyWord.NO_NULL_BIT);
    if (id.isVariableWidth()) {
      addStringWords(first, next, output, scope, words);
    } else if (id == TypeId.TIMESTAMP_NANOS) {
      long millis = childAddress(input, 0, scope);
      long nanos = childAddress(input, 1, scope);
      words.add(first.fixed(millis, output + parts.get(0), Long.BYTES, Long.BYTES, KeyWord.BITS));
      words.add(
          next.fixed(nanos, output + parts.get(1), Integer.BYTES, Integer.BYTES, KeyWord.BITS));
    } else {
      int stride = id.byteWidth();
      int width = Math.min(stride, Long.BYTES);
      long data = input.dataAddress(scope);
      long target = output + parts.get(0);
      words.add(first.fixed(data, target, stride, width, wordType(id)));
      if (stride > width) {
        words.add(next.fixed(data + width, target + width, stride, width, KeyWord.BITS));
      }
    }
  }

  private static int wordType(TypeId id) {
    return switch (id) {
      case FLOAT32 -> KeyWord.FLOAT32;
      case FLOAT64 -> KeyWord.FLOAT64;
      default -> KeyWord.BITS;
    };
  }

  private void addStringWords(
      KeyWord first, KeyWord next, long output, AccessScope scope, List<KeyWord> words) {
    long data = input.data().orElseThrow().access(AccessMode.READ, scope);
    long offsets = childAddress(input, 0, scope);
    gatherMap = output + parts.get(2);
    gather =
        new StringGather(
            offsets,
            data,
            output + parts.get(1),
            output + parts.get(0),
            outputBytes(),
            output + parts.get(3));
    words.add(first.string(data, offsets, gatherMap, KeyWord.STRING_HEAD));
    words.add(next.string(data, offsets, 0, KeyWord.STRING_TAIL));
  }

  /** Enqueues the gather of strings for {@code rows} rows of the result. */
  void gatherStrings(int rows) {
    if (gather != null) {
      gather.gather(gatherMap, rows, stream);
    }
  }

  /** The first rows as a column over slices of the buffer; the caller closes it. */
  Column column(Buffer buffer, int rows) {
    DataType type = field.type();
    Buffer mask = input.isNullable() ? buffer.slice(maskOffset, Column.maskBytes(rows)) : null;
    if (type.id().isVariableWidth()) {
      Column offsets = child(buffer, DataType.INT32, parts.get(1), rows + 1);
      Buffer bytes = buffer.slice(parts.get(0), outputBytes());
      return new Column(type, rows, 0, bytes, mask, List.of(offsets));
    }
    if (type.id() == TypeId.TIMESTAMP_NANOS) {
      Column millis = child(buffer, DataType.INT64, parts.get(0), rows);
      Column nanos = child(buffer, DataType.INT32, parts.get(1), rows);
      return new Column(type, rows, 0, null, mask, List.of(millis, nanos));
    }
    Buffer data = buffer.slice(parts.get(0), (long) rows * type.id().byteWidth());
    return new Column(type, rows, 0, data, mask, List.of());
  }

  private static Column child(Buffer buffer, DataType type, long offset, int size) {
    Buffer data = buffer.slice(offset, (long) size * type.id().byteWidth());
    return new Column(type, size, 0, data, null, List.of());
  }
}
