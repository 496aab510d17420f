// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.arrow;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowSchemaConverter;
import io.millrace.column.Schema;
import io.millrace.connectors.files.message.MessageParts;
import io.millrace.connectors.files.message.MessageRows;
import io.millrace.connectors.files.message.MessageRows.RowLimit;
import io.millrace.connectors.files.scan.ScanEnd;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.core.fs.FSDataInputStream;

/**
 * Cuts a file that is an Arrow IPC stream into its record batch messages, and those into as many
 * rows as the operator behind takes at once.
 */
final class ArrowMessageReader implements BulkFormat.Reader<MessageRows> {
  private static final int CONTINUATION = -1;
  private static final int PREFIX_BYTES = 2 * Integer.BYTES;
  private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

  private final String path;
  private final FSDataInputStream input;
  private final RowLimit limit;
  private long rowsToSkip;

  /**
   * @param input is at the file's start; closed with this reader
   * @param scanEnd of the subtask's readers
   */
  ArrowMessageReader(String path, FSDataInputStream input, ScanEnd scanEnd) {
    this.path = path;
    this.input = input;
    this.limit = new RowLimit(scanEnd);
  }

  /**
   * Reads the schema that the file starts with.
   *
   * @throws ArrowFormatException if there is none
   */
  Schema readSchema() throws IOException {
    byte[] message = readMessage().orElseThrow(() -> corrupt(0, "the file is empty", null));
    Message metadata = decode(message, 0);
    if (metadata.headerType() != MessageHeader.Schema) {
      throw corrupt(0, "the file does not start with a schema", null);
    }
    try {
      return ArrowSchemaConverter.fromArrow(
          org.apache.arrow.vector.types.pojo.Schema.convertSchema(
              (org.apache.arrow.flatbuf.Schema)
                  metadata.header(new org.apache.arrow.flatbuf.Schema())));
    } catch (IndexOutOfBoundsException | NullPointerException e) {
      throw corrupt(0, "the schema is corrupt", e);
    }
  }

  /** Goes to a part's position. */
  void seek(CheckpointedPosition position) throws IOException {
    input.seek(position.getOffset());
    rowsToSkip = position.getRecordsAfterOffset();
  }

  @Override
  public BulkFormat.RecordIterator<MessageRows> readBatch() throws IOException {
    long start = input.getPos();
    Optional<byte[]> message = limit.isEnded() ? Optional.empty() : readMessage();
    if (message.isEmpty()) {
      return null;
    }
    long rows = countRows(decode(message.get(), start), start);
    if (rows < rowsToSkip || rows > Integer.MAX_VALUE) {
      throw corrupt(start, rows + " rows, of which " + rowsToSkip + " were read before", null);
    }
    int firstRow = (int) rowsToSkip;
    rowsToSkip = 0;
    return new MessageParts(
        path, message.get(), firstRow, (int) rows, start, input.getPos(), limit);
  }

  private long countRows(Message message, long start) throws ArrowFormatException {
    byte type = message.headerType();
    if (type != MessageHeader.RecordBatch) {
      throw corrupt(
          start,
          type == MessageHeader.DictionaryBatch
              ? "a dictionary, which is not supported"
              : "a message of type " + type,
          null);
    }
    try {
      return ((RecordBatch) message.header(new RecordBatch())).length();
    } catch (IndexOutOfBoundsException | NullPointerException e) {
      throw corrupt(start, "the metadata is corrupt", e);
    }
  }

  // Prefix, metadata and body; empty at the end marker and at the file's end.
  private Optional<byte[]> readMessage() throws IOException {
    long start = input.getPos();
    byte[] prefix = input.readNBytes(PREFIX_BYTES);
    if (prefix.length == 0) {
      return Optional.empty();
    }
    if (prefix.length < PREFIX_BYTES) {
      throw corrupt(start, "the file is cut short", null);
    }
    ByteBuffer fields = ByteBuffer.wrap(prefix).order(ByteOrder.LITTLE_ENDIAN);
    int continuation = fields.getInt();
    int metadataBytes = fields.getInt();
    if (continuation != CONTINUATION || metadataBytes < 0) {
      throw corrupt(start, "there is no Arrow IPC message", null);
    }
    if (metadataBytes == 0) {
      return Optional.empty();
    }
    byte[] head = append(prefix, metadataBytes, start);
    long bodyBytes = decode(head, start).bodyLength();
    if (bodyBytes < 0 || bodyBytes > MAX_BYTES - head.length) {
      throw corrupt(start, "a message of " + bodyBytes + " bytes", null);
    }
    return Optional.of(append(head, (int) bodyBytes, start));
  }

  private byte[] append(byte[] head, int more, long start) throws IOException {
    byte[] tail = input.readNBytes(more);
    if (tail.length < more) {
      throw corrupt(start, "the file is cut short: " + tail.length + " bytes of " + more, null);
    }
    byte[] whole = Arrays.copyOf(head, Math.addExact(head.length, more));
    System.arraycopy(tail, 0, whole, head.length, more);
    return whole;
  }

  private Message decode(byte[] message, long start) throws ArrowFormatException {
    try {
      Message metadata =
          Message.getRootAsMessage(
              ByteBuffer.wrap(message, PREFIX_BYTES, message.length - PREFIX_BYTES)
                  .slice()
                  .order(ByteOrder.LITTLE_ENDIAN));
      // Reads what is asked for later, while a corrupt message can still be told.
      metadata.headerType();
      metadata.bodyLength();
      return metadata;
    } catch (IndexOutOfBoundsException e) {
      throw corrupt(start, "the metadata is corrupt", e);
    }
  }

  private ArrowFormatException corrupt(long offset, String what, Throwable cause) {
    return new ArrowFormatException(path + ":" + offset + ": " + what, cause);
  }

  @Override
  public void close() throws IOException {
    input.close();
  }
}
