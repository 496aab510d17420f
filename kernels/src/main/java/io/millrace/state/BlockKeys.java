// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;

/** Makes the key columns of the rows of a block, in host memory. */
final class BlockKeys {
  private static final int PREFIX_BYTES = Integer.BYTES;

  private final StateSchema schema;
  private final StateBlock block;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final List<Buffer> buffers = new ArrayList<>();

  BlockKeys(
      StateSchema schema, StateBlock block, DeviceStream hostStream, MemoryResource hostMemory) {
    this.schema = schema;
    this.block = block;
    this.stream = hostStream;
    this.memory = hostMemory;
  }

  /** The columns; the caller closes the table. */
  Table table() {
    Schema keySchema = schema.keySchema();
    List<Column> columns = new ArrayList<>();
    try (AccessScope scope = AccessScope.on(stream)) {
      int word = 0;
      for (int key = 0; key < keySchema.size(); key++) {
        columns.add(column(key, word, keySchema.field(key), scope));
        word += StateSchema.words(keySchema.type(key));
      }
      return new Table(keySchema, columns, block.rowCount());
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      buffers.forEach(buffer -> failure.run(buffer::close));
      throw e;
    }
  }

  private Column column(int key, int word, Field field, AccessScope scope) {
    DataType type = field.type();
    Buffer mask = field.nullable() ? mask(key, scope) : null;
    if (type.id().isVariableWidth()) {
      return strings(type, word + 1, mask, scope);
    }
    if (type.id() == TypeId.TIMESTAMP_NANOS) {
      Column millis = column(DataType.INT64, words(word, Long.BYTES, scope), null);
      Column nanos = column(DataType.INT32, words(word + 1, Integer.BYTES, scope), null);
      return new Column(type, block.rowCount(), 0, null, mask, List.of(millis, nanos));
    }
    return column(type, words(word, type.id().byteWidth(), scope), mask);
  }

  private Column column(DataType type, Buffer data, Buffer mask) {
    return new Column(type, block.rowCount(), 0, data, mask, List.of());
  }

  private Buffer allocate(long bytes) {
    Buffer buffer = Buffer.allocate(bytes, stream, memory);
    buffers.add(buffer);
    return buffer;
  }

  private Buffer words(int word, int width, AccessScope scope) {
    Buffer data = allocate((long) block.rowCount() * width);
    long output = data.access(AccessMode.WRITE, scope);
    for (int row = 0; row < block.rowCount(); row++) {
      // Words are little-endian: the low bytes come first.
      HostMemory.copy(output + (long) row * width, block.wordAddress(row, word), width);
    }
    return data;
  }

  private Buffer mask(int nullBit, AccessScope scope) {
    Buffer mask = allocate(Column.maskBytes(block.rowCount()));
    long address = mask.access(AccessMode.WRITE, scope);
    HostMemory.fill(address, mask.size(), (byte) 0);
    int nullWord = schema.firstAccumulator() - 1;
    for (int row = 0; row < block.rowCount(); row++) {
      HostMemory.putBit(address, row, (block.word(row, nullWord) >> nullBit & 1) == 0);
    }
    return mask;
  }

  private Column strings(DataType type, int tail, Buffer mask, AccessScope scope) {
    Buffer offsets = allocate((block.rowCount() + 1L) * Integer.BYTES);
    long offset = offsets.access(AccessMode.WRITE, scope);
    int bytes = 0;
    HostMemory.putInt(offset, 0);
    for (int row = 0; row < block.rowCount(); row++) {
      // A block of several rows is much smaller than 2 Gi bytes.
      bytes = Math.addExact(bytes, block.length(row, tail));
      HostMemory.putInt(offset + (row + 1L) * Integer.BYTES, bytes);
    }
    Buffer data = allocate(bytes);
    long output = data.access(AccessMode.WRITE, scope);
    for (int row = 0; row < block.rowCount(); row++) {
      copyString(row, tail, output);
      output += block.length(row, tail);
    }
    Column offsetColumn =
        new Column(DataType.INT32, block.rowCount() + 1, 0, offsets, null, List.of());
    return new Column(type, block.rowCount(), 0, data, mask, List.of(offsetColumn));
  }

  private void copyString(int row, int tail, long output) {
    int length = block.length(row, tail);
    if (LongStrings.words(length) > 0) {
      long source = block.stringAddress() + block.word(row, tail) * Long.BYTES;
      HostMemory.copy(output, source, length);
      return;
    }
    // The first bytes lie in the high half of the head, before the tail.
    long head = block.wordAddress(row, tail - 1);
    HostMemory.copy(output, head + PREFIX_BYTES, length);
  }
}
