// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows of a state table in pinned host memory, one behind the other, on their way to or from a
 * checkpoint. Their bytes are the same on every device: words in little-endian order. Used by one
 * thread.
 */
@PublicEvolving
public final class StateBlock implements AutoCloseable {
  private final StateSchema schema;
  private final StagingBuffer memory;
  private int rowCount;

  /**
   * @param device that the memory is pinned for
   * @param rowCount rows that the caller writes to {@link #address}
   * @throws io.millrace.device.GpuOutOfMemoryException if the host cannot pin that much
   */
  public StateBlock(StateSchema schema, int rowCount, Device device) {
    this.schema = schema;
    this.rowCount = rowCount;
    this.memory = device.stagingPool().acquire((long) rowCount * schema.rowBytes());
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

  /**
   * The key columns of the rows, in host memory; the caller closes the table.
   *
   * @param hostStream a stream of the host
   * @param hostMemory memory of the host
   */
  public Table keys(DeviceStream hostStream, MemoryResource hostMemory) {
    Schema keySchema = schema.keySchema();
    List<Column> columns = new ArrayList<>();
    try {
      int word = 0;
      for (int key = 0; key < keySchema.size(); key++) {
        columns.add(keyColumn(key, word, keySchema.field(key), hostStream, hostMemory));
        word += StateSchema.words(keySchema.type(key));
      }
      return new Table(keySchema, columns, rowCount);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      columns.forEach(column -> failure.run(column::close));
      throw e;
    }
  }

  private Column keyColumn(
      int key, int word, Field field, DeviceStream stream, MemoryResource target) {
    DataType type = field.type();
    int width = type.id().byteWidth();
    Buffer data = Buffer.allocate((long) rowCount * width, stream, target);
    Buffer mask = null;
    try (AccessScope scope = AccessScope.on(stream)) {
      long output = data.access(AccessMode.WRITE, scope);
      long input = address() + (long) word * Long.BYTES;
      for (int row = 0; row < rowCount; row++) {
        // Words are little-endian: the low bytes come first.
        HostMemory.copy(output + (long) row * width, input + (long) row * schema.rowBytes(), width);
      }
      if (field.nullable()) {
        mask = Buffer.allocate(Column.maskBytes(rowCount), stream, target);
        fillMask(mask.access(AccessMode.WRITE, scope), key);
      }
    } catch (RuntimeException | Error e) {
      data.close();
      if (mask != null) {
        mask.close();
      }
      throw e;
    }
    return new Column(type, rowCount, 0, data, mask, List.of());
  }

  private void fillMask(long mask, int nullBit) {
    HostMemory.fill(mask, Column.maskBytes(rowCount), (byte) 0);
    long nullWords = address() + (schema.firstAccumulator() - 1L) * Long.BYTES;
    for (int row = 0; row < rowCount; row++) {
      long nulls = HostMemory.getLong(nullWords + (long) row * schema.rowBytes());
      HostMemory.putBit(mask, row, (nulls >> nullBit & 1) == 0);
    }
  }

  /**
   * Keeps some of the rows, in their order.
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
   * These rows with other accumulators: makes one attempt. The caller closes both blocks.
   *
   * @param target a schema with the same keys
   * @param positions for each word of the accumulators of {@code target} the position of the word
   *     of this block's accumulators that has its value
   * @param device as in the constructor
   * @throws io.millrace.device.GpuOutOfMemoryException if the host cannot pin that much
   */
  public StateBlock withAccumulators(StateSchema target, int[] positions, Device device) {
    StateBlock block = new StateBlock(target, rowCount, device);
    HostMemory.fill(block.address(), block.byteCount(), (byte) 0);
    int keyBytes = schema.firstAccumulator() * Long.BYTES;
    for (int row = 0; row < rowCount; row++) {
      long from = address() + (long) row * schema.rowBytes();
      long to = block.address() + (long) row * target.rowBytes();
      HostMemory.copy(to, from, keyBytes);
      for (int i = 0; i < positions.length; i++) {
        long word = HostMemory.getLong(from + keyBytes + (long) positions[i] * Long.BYTES);
        HostMemory.putLong(to + keyBytes + (long) i * Long.BYTES, word);
      }
    }
    return block;
  }

  @Override
  public void close() {
    memory.close();
  }
}
