// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.ipc;

import io.millrace.annotation.PublicEvolving;
import io.millrace.arrow.ArrowDictionaries;
import io.millrace.arrow.ArrowSchemaConverter;
import io.millrace.column.Column;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.MemoryResource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.List;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.MessageSerializer;

/**
 * Writes host tables of one schema as an Arrow IPC stream, which all Arrow implementations read:
 * the schema, then for each table its dictionaries and one record batch, then the end marker. Used
 * by one thread.
 */
@PublicEvolving
public final class ArrowIpcStreamWriter implements AutoCloseable {
  private static final byte[] END = {-1, -1, -1, -1, 0, 0, 0, 0};
  // A direct view has at most 2^31 - 1 bytes.
  private static final long MAX_RUN = 1L << 30;

  private final Schema schema;
  private final WritableByteChannel channel;
  private final DeviceStream hostStream;
  private final MemoryResource resource;
  private boolean closed;

  /**
   * Writes the schema.
   *
   * @param channel in blocking mode; closed with this
   * @param hostStream a host stream
   * @param resource host memory for converted columns
   * @throws IOException if the channel fails
   */
  public ArrowIpcStreamWriter(
      Schema schema, WritableByteChannel channel, DeviceStream hostStream, MemoryResource resource)
      throws IOException {
    this.schema = schema;
    this.channel = channel;
    this.hostStream = hostStream;
    this.resource = resource;
    MessageSerializer.serialize(new WriteChannel(channel), ArrowSchemaConverter.toArrow(schema));
  }

  /**
   * Writes the rows of {@code table}, which the caller still owns.
   *
   * @throws IllegalArgumentException if its schema is another
   * @throws IllegalStateException if it is in device memory
   * @throws IOException if the channel does; the stream is then cut short
   */
  public void write(Table table) throws IOException {
    if (!table.schema().equals(schema)) {
      throw new IllegalArgumentException(
          "expected a table of " + schema + ", got " + table.schema());
    }
    List<Column> dictionaries = ArrowDictionaries.of(table.columns());
    for (int id = dictionaries.size() - 1; id >= 0; id--) {
      try (ArrowRecordBatchWriter message =
          ArrowRecordBatchWriter.ofDictionary(id, dictionaries.get(id), hostStream, resource)) {
        message.write(this::write);
      }
    }
    try (ArrowRecordBatchWriter message =
        ArrowRecordBatchWriter.inStream(table, hostStream, resource)) {
      message.write(this::write);
    }
  }

  private void write(long address, long length) throws IOException {
    for (long done = 0; done < length; ) {
      int run = (int) Math.min(MAX_RUN, length - done);
      write(HostMemory.byteBuffer(address + done, run));
      done += run;
    }
  }

  private void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /** Writes the end marker and closes the channel. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    try (channel) {
      write(ByteBuffer.wrap(END));
    }
  }
}
