// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.ipc;

import io.millrace.annotation.PublicEvolving;
import io.millrace.arrow.ArrowArraySource;
import io.millrace.arrow.ArrowColumnImporter;
import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowNode;
import io.millrace.arrow.ArrowSchemaConverter;
import io.millrace.arrow.ipc.IpcMetadata.Range;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Reads Arrow IPC record batch messages of one schema, such as {@link ArrowRecordBatchWriter}
 * writes, into host tables. Bodies must not be compressed. Thread-safe.
 *
 * <p>Corrupt messages are refused or give wrong values; they never make a table whose reading
 * leaves its memory.
 */
@PublicEvolving
public final class ArrowRecordBatchReader {
  private final Schema schema;
  private final List<Field> fields;

  public ArrowRecordBatchReader(Schema schema) {
    this(schema, ArrowSchemaConverter.toArrow(schema).getFields());
  }

  ArrowRecordBatchReader(Schema schema, List<Field> fields) {
    this.schema = schema;
    this.fields = fields;
  }

  public Schema schema() {
    return schema;
  }

  /**
   * Copies the message at {@code address} once and reads the copy as {@link #read(Buffer,
   * DeviceStream, MemoryResource)} does.
   *
   * @param address host memory, which may be reused after this
   */
  public Table read(long address, long size, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    try (Buffer message = Buffer.copyOf(address, size, stream, resource)) {
      return read(message, stream, resource);
    }
  }

  /**
   * Reads a message. The table shares the message's memory, which lives until both are closed,
   * except for types that Arrow lays out differently: BOOL, DECIMAL32 and DECIMAL64.
   *
   * @param message host memory; owned by the caller; bytes after the message are ignored
   * @param stream a host stream, open as long as the table
   * @param resource host memory for converted columns
   * @return the table; the caller owns it
   * @throws ArrowFormatException if the message is truncated, corrupt or of another schema
   */
  public Table read(Buffer message, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    long bodyStart;
    IpcMetadata metadata;
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = message.access(AccessMode.READ, scope);
      int metadataBytes = metadataBytes(address, message.size());
      bodyStart = ArrowRecordBatchWriter.PREFIX_BYTES + (long) metadataBytes;
      byte[] bytes = new byte[metadataBytes];
      HostMemory.copyToArray(
          bytes, 0, address + ArrowRecordBatchWriter.PREFIX_BYTES, metadataBytes);
      metadata = IpcMetadata.decodeRecordBatch(IpcMetadata.decodeMessage(ByteBuffer.wrap(bytes)));
    }
    if (metadata.bodyLength() > message.size() - bodyStart) {
      throw new ArrowFormatException(
          "the message is cut short: its body has "
              + metadata.bodyLength()
              + " bytes, of which "
              + (message.size() - bodyStart)
              + " are there");
    }
    try (Buffer body = message.slice(bodyStart, metadata.bodyLength())) {
      return read(metadata, body, new ArrowColumnImporter.Target(Map.of(), stream, resource));
    }
  }

  private static int metadataBytes(long address, long size) throws ArrowFormatException {
    long available = size - ArrowRecordBatchWriter.PREFIX_BYTES;
    if (available < 0) {
      throw new ArrowFormatException("a message of " + size + " bytes is cut short");
    }
    int continuation = HostMemory.getInt(address);
    if (continuation != ArrowRecordBatchWriter.CONTINUATION) {
      throw new ArrowFormatException(
          "the message does not start with the continuation marker but with 0x"
              + Integer.toHexString(continuation));
    }
    int bytes = HostMemory.getInt(address + Integer.BYTES);
    if (bytes < 0 || bytes > available) {
      throw new ArrowFormatException(
          "metadata of " + bytes + " bytes in a message that has " + available + " more");
    }
    return bytes;
  }

  /** The table of a record batch whose body is {@code body}. */
  Table read(IpcMetadata metadata, Buffer body, ArrowColumnImporter.Target target)
      throws ArrowFormatException {
    BodySource source = new BodySource(metadata, body);
    Table table = ArrowColumnImporter.importTable(fields, schema, metadata.rows(), source, target);
    if (source.hasMore()) {
      table.close();
      throw new ArrowFormatException(
          "the message has more arrays than the schema " + schema + " has columns");
    }
    return table;
  }

  private static final class BodySource implements ArrowArraySource {
    private final Iterator<ArrowNode> nodes;
    private final Iterator<Range> ranges;
    private final Buffer body;

    BodySource(IpcMetadata metadata, Buffer body) {
      this.nodes = metadata.nodes().iterator();
      this.ranges = metadata.buffers().iterator();
      this.body = body;
    }

    boolean hasMore() {
      return nodes.hasNext() || ranges.hasNext();
    }

    @Override
    public ArrowNode nextNode() throws ArrowFormatException {
      if (!nodes.hasNext()) {
        throw new ArrowFormatException("the message has fewer arrays than the schema");
      }
      return nodes.next();
    }

    @Override
    public ArrowBuffer nextBuffer(long needed) throws ArrowFormatException {
      if (!ranges.hasNext()) {
        throw new ArrowFormatException("the message has fewer buffers than the schema");
      }
      Range range = ranges.next();
      long offset = range.offset();
      long length = range.length();
      if (offset < 0 || length < 0 || offset > body.size() || length > body.size() - offset) {
        throw new ArrowFormatException(
            "a buffer of "
                + length
                + " bytes at "
                + offset
                + " in a body of "
                + body.size()
                + " bytes");
      }
      long padded = Math.min(ArrowRecordBatchWriter.align(length), body.size() - offset);
      return new ArrowBuffer(body.slice(offset, padded), length);
    }
  }
}
