// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.ipc;

import io.millrace.annotation.PublicEvolving;
import io.millrace.arrow.ArrowColumnImporter;
import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowSchemaConverter;
import io.millrace.arrow.ipc.IpcMetadata.DictionaryMetadata;
import io.millrace.column.Column;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Reads an Arrow IPC stream of any writer as host tables, one per record batch, which share the
 * memory of the batch. Compressed bodies and dictionary deltas are refused. Used by one thread.
 *
 * <p>Bodies are allocated with the sizes that the stream announces: say how large a message of an
 * untrusted stream may be.
 */
@PublicEvolving
public final class ArrowIpcStreamReader implements AutoCloseable {
  private static final int MAX_METADATA_BYTES = 1 << 28;
  // A direct view has at most 2^31 - 1 bytes.
  private static final long MAX_RUN = 1L << 30;

  private final ReadableByteChannel channel;
  private final long maximumMessageBytes;
  private final DeviceStream hostStream;
  private final MemoryResource resource;
  private final Schema schema;
  private final ArrowRecordBatchReader batchReader;
  private final Map<Long, Field> dictionaryFields;
  private final Map<Long, Column> dictionaries = new HashMap<>();

  /**
   * Reads the schema.
   *
   * @param channel in blocking mode; closed with this
   * @param hostStream a host stream, open as long as the tables
   * @param resource host memory for the tables
   * @throws ArrowFormatException if the stream does not start with a schema
   * @throws IllegalArgumentException if a column's type is not supported
   * @throws IOException if the channel fails
   */
  public ArrowIpcStreamReader(
      ReadableByteChannel channel, DeviceStream hostStream, MemoryResource resource)
      throws IOException {
    this(channel, hostStream, resource, Long.MAX_VALUE);
  }

  /**
   * As the other constructor.
   *
   * @param maximumMessageBytes larger bodies, and larger metadata, are refused before they are
   *     allocated
   */
  public ArrowIpcStreamReader(
      ReadableByteChannel channel,
      DeviceStream hostStream,
      MemoryResource resource,
      long maximumMessageBytes)
      throws IOException {
    this.channel = channel;
    this.maximumMessageBytes = maximumMessageBytes;
    this.hostStream = hostStream;
    this.resource = resource;
    Message message =
        readMessage().orElseThrow(() -> new ArrowFormatException("the stream is empty"));
    org.apache.arrow.vector.types.pojo.Schema arrowSchema = decodeSchema(message);
    this.schema = ArrowSchemaConverter.fromArrow(arrowSchema);
    this.batchReader = new ArrowRecordBatchReader(schema, arrowSchema.getFields());
    this.dictionaryFields = ArrowSchemaConverter.dictionaryFields(arrowSchema.getFields());
  }

  // Arrow does not specify the exceptions of its decoder.
  private static org.apache.arrow.vector.types.pojo.Schema decodeSchema(Message message)
      throws ArrowFormatException {
    if (message.headerType() != MessageHeader.Schema) {
      throw new ArrowFormatException(
          "the stream starts with a message of header type "
              + message.headerType()
              + " instead of a schema");
    }
    try {
      return MessageSerializer.deserializeSchema(message);
    } catch (RuntimeException e) {
      throw new ArrowFormatException("the stream's schema is corrupt", e);
    }
  }

  public Schema schema() {
    return schema;
  }

  /**
   * The table of the next record batch, which the caller owns; empty at the stream's end.
   *
   * @throws ArrowFormatException if the stream is truncated, corrupt or uses an unsupported feature
   * @throws IOException if the channel does
   */
  public Optional<Table> read() throws IOException {
    while (true) {
      Optional<Message> next = readMessage();
      if (next.isEmpty()) {
        return Optional.empty();
      }
      Message message = next.get();
      switch (message.headerType()) {
        case MessageHeader.RecordBatch -> {
          IpcMetadata metadata = IpcMetadata.decodeRecordBatch(message);
          try (Buffer body = readBody(metadata)) {
            return Optional.of(batchReader.read(metadata, body, target()));
          }
        }
        case MessageHeader.DictionaryBatch -> readDictionary(message);
        default ->
            throw new ArrowFormatException(
                "a message of header type " + message.headerType() + " in a stream");
      }
    }
  }

  private void readDictionary(Message message) throws IOException {
    DictionaryMetadata metadata = IpcMetadata.decodeDictionaryBatch(message);
    Field field = dictionaryFields.get(metadata.id());
    if (field == null) {
      throw new ArrowFormatException(
          "dictionary " + metadata.id() + ", to which no column of " + schema + " refers");
    }
    org.apache.arrow.vector.types.pojo.Schema values =
        new org.apache.arrow.vector.types.pojo.Schema(List.of(field));
    ArrowRecordBatchReader reader =
        new ArrowRecordBatchReader(ArrowSchemaConverter.fromArrow(values), List.of(field));
    try (Buffer body = readBody(metadata.values());
        Table table = reader.read(metadata.values(), body, target())) {
      Column previous = dictionaries.put(metadata.id(), table.column(0).share());
      if (previous != null) {
        previous.close();
      }
    }
  }

  private ArrowColumnImporter.Target target() {
    return new ArrowColumnImporter.Target(dictionaries, hostStream, resource);
  }

  /** The next message's metadata; empty at the end marker and where the channel ends. */
  private Optional<Message> readMessage() throws IOException {
    ByteBuffer prefix =
        ByteBuffer.allocate(ArrowRecordBatchWriter.PREFIX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    if (!readFully(prefix)) {
      if (prefix.position() == 0) {
        return Optional.empty();
      }
      throw new ArrowFormatException("the stream is cut short before a message");
    }
    int continuation = prefix.getInt(0);
    int length = prefix.getInt(Integer.BYTES);
    if (continuation != ArrowRecordBatchWriter.CONTINUATION) {
      throw new ArrowFormatException(
          "a message does not start with the continuation marker but with 0x"
              + Integer.toHexString(continuation));
    }
    if (length == 0) {
      return Optional.empty();
    }
    if (length < 0 || length > Math.min(MAX_METADATA_BYTES, maximumMessageBytes)) {
      throw new ArrowFormatException("a message's metadata has " + length + " bytes");
    }
    ByteBuffer metadata = ByteBuffer.allocate(length);
    if (!readFully(metadata)) {
      throw new ArrowFormatException(
          "the stream is cut short: " + metadata.position() + " bytes of " + length);
    }
    return Optional.of(IpcMetadata.decodeMessage(metadata.flip()));
  }

  private Buffer readBody(IpcMetadata metadata) throws IOException {
    if (metadata.bodyLength() > maximumMessageBytes) {
      throw new ArrowFormatException(
          "a body of " + metadata.bodyLength() + " bytes, of at most " + maximumMessageBytes);
    }
    Buffer body = Buffer.allocate(metadata.bodyLength(), hostStream, resource);
    boolean done = false;
    try (AccessScope scope = AccessScope.on(hostStream)) {
      long address = body.access(AccessMode.WRITE, scope);
      for (long read = 0; read < body.size(); ) {
        int run = (int) Math.min(MAX_RUN, body.size() - read);
        if (!readFully(HostMemory.byteBuffer(address + read, run))) {
          throw new ArrowFormatException(
              "the stream is cut short within a body of " + body.size() + " bytes");
        }
        read += run;
      }
      done = true;
      return body;
    } finally {
      if (!done) {
        body.close();
      }
    }
  }

  /** False if the channel ended before {@code target} was full. */
  private boolean readFully(ByteBuffer target) throws IOException {
    while (target.hasRemaining()) {
      if (channel.read(target) < 0) {
        return false;
      }
    }
    return true;
  }

  /** Closes the channel and frees the dictionaries; tables read before stay valid. */
  @Override
  public void close() throws IOException {
    dictionaries.values().forEach(Column::close);
    dictionaries.clear();
    channel.close();
  }
}
