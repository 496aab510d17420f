// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.ipc;

import io.millrace.annotation.PublicEvolving;
import io.millrace.arrow.ArrowArrays;
import io.millrace.arrow.ipc.IpcMetadata.Range;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A host table as one Arrow IPC record batch message, without its schema: the continuation marker,
 * the length of the metadata, the metadata and the body. Buffers start at multiples of 64 bytes
 * from the start of the message.
 *
 * <p>The constructor prepares the message, which is handed out as ranges of memory: columns in
 * Arrow's layout are not copied (see {@link ArrowArrays} for conversions). Only the rows of a slice
 * are written. This keeps the table's memory until it is closed, so the table may be closed before.
 * Used by one thread.
 */
@PublicEvolving
public final class ArrowRecordBatchWriter implements AutoCloseable {
  static final int ALIGNMENT = 64;
  static final int CONTINUATION = -1;

  /** Bytes before the metadata: the continuation marker and the metadata's length. */
  static final int PREFIX_BYTES = 2 * Integer.BYTES;

  private final DeviceStream stream;
  private final ArrowArrays arrays;
  private final IpcMetadata metadata;
  private Buffer prefix;
  private long headBytes;

  /** Takes the message's bytes, in order. */
  @FunctionalInterface
  public interface Output {
    /**
     * Takes {@code length} bytes of host memory, which are valid during the call only.
     *
     * @param length at least 1
     */
    void write(long address, long length) throws IOException;
  }

  /**
   * Prepares the message of {@code table}, which the caller still owns.
   *
   * @param stream a host stream, open until this is closed
   * @param resource host memory for the metadata and for converted columns
   * @throws IllegalArgumentException if a column is a DICTIONARY, at any depth: a message alone
   *     cannot carry the dictionary, so decode it first
   * @throws IllegalStateException if the table is in device memory
   */
  public ArrowRecordBatchWriter(Table table, DeviceStream stream, MemoryResource resource) {
    this(ArrowArrays.of(checkNoDictionary(table), stream, resource), table.rowCount(), stream);
    writeHead(metadata.encodeRecordBatch(), resource);
  }

  private ArrowRecordBatchWriter(ArrowArrays arrays, long rows, DeviceStream stream) {
    this.stream = stream;
    this.arrays = arrays;
    List<Range> ranges = new ArrayList<>();
    long end = 0;
    for (Buffer buffer : arrays.buffers()) {
      ranges.add(new Range(end, buffer.size()));
      end = align(end + buffer.size());
    }
    this.metadata = new IpcMetadata(rows, arrays.nodes(), ranges, end);
  }

  /** A record batch message of an Arrow stream, where dictionaries travel in their own messages. */
  static ArrowRecordBatchWriter inStream(
      Table table, DeviceStream stream, MemoryResource resource) {
    ArrowRecordBatchWriter writer =
        new ArrowRecordBatchWriter(
            ArrowArrays.of(table, stream, resource), table.rowCount(), stream);
    writer.writeHead(writer.metadata.encodeRecordBatch(), resource);
    return writer;
  }

  /** A message with the values of dictionary {@code id}. */
  static ArrowRecordBatchWriter ofDictionary(
      long id, Column values, DeviceStream stream, MemoryResource resource) {
    ArrowRecordBatchWriter writer =
        new ArrowRecordBatchWriter(
            ArrowArrays.of(List.of(values), stream, resource), values.size(), stream);
    writer.writeHead(writer.metadata.encodeDictionaryBatch(id), resource);
    return writer;
  }

  private static Table checkNoDictionary(Table table) {
    for (Field field : table.schema().fields()) {
      if (hasDictionary(field.type())) {
        throw new IllegalArgumentException(
            "column '" + field.name() + "' is " + field.type() + ": decode it before it is sent");
      }
    }
    return table;
  }

  private static boolean hasDictionary(DataType type) {
    return type.id() == TypeId.DICTIONARY
        || type.fields().stream().anyMatch(field -> hasDictionary(field.type()));
  }

  // The head is followed by zeros that fill the gaps between buffers.
  private void writeHead(ByteBuffer flatbuffer, MemoryResource resource) {
    byte[] bytes = new byte[flatbuffer.remaining()];
    flatbuffer.get(bytes);
    headBytes = align(PREFIX_BYTES + bytes.length);
    try {
      prefix = Buffer.allocate(headBytes + ALIGNMENT, stream, resource);
    } catch (RuntimeException | Error e) {
      arrays.close();
      throw e;
    }
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = prefix.access(AccessMode.WRITE, scope);
      HostMemory.fill(address, prefix.size(), (byte) 0);
      HostMemory.putInt(address, CONTINUATION);
      HostMemory.putInt(address + Integer.BYTES, (int) headBytes - PREFIX_BYTES);
      HostMemory.copyFromArray(address + PREFIX_BYTES, bytes, 0, bytes.length);
    }
  }

  static long align(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Bytes of the message; a multiple of 64. */
  public long encodedSize() {
    return headBytes + metadata.bodyLength();
  }

  /**
   * Hands the message to {@code output}, run by run. May be called again.
   *
   * @throws IOException if {@code output} does
   */
  public void write(Output output) throws IOException {
    try (AccessScope scope = AccessScope.on(stream)) {
      long head = prefix.access(AccessMode.READ, scope);
      long zeros = head + headBytes;
      output.write(head, headBytes);
      for (Buffer buffer : arrays.buffers()) {
        if (buffer.size() > 0) {
          output.write(buffer.access(AccessMode.READ, scope), buffer.size());
        }
        long gap = align(buffer.size()) - buffer.size();
        if (gap > 0) {
          output.write(zeros, gap);
        }
      }
    }
  }

  @Override
  public void close() {
    arrays.close();
    prefix.close();
  }
}
