// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.ipc;

import com.google.flatbuffers.FlatBufferBuilder;
import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.ipc.message.MessageSerializer;

/**
 * The metadata of an IPC message that carries a record batch: what its flatbuffer says.
 *
 * @param rows rows of the batch
 * @param nodes a node a field, depth first
 * @param buffers where each buffer is within the body
 * @param bodyLength bytes of the body
 */
record IpcMetadata(long rows, List<ArrowNode> nodes, List<Range> buffers, long bodyLength) {
  private static final int NODE_BYTES = 16;
  // More than any host has; keeps sums of lengths far from overflowing.
  private static final long MAX_BODY_BYTES = 1L << 42;

  /** A range of the body, in bytes. */
  record Range(long offset, long length) {}

  /** The flatbuffer of a record batch message. */
  ByteBuffer encodeRecordBatch() {
    FlatBufferBuilder builder = new FlatBufferBuilder();
    int header = addRecordBatch(builder);
    return MessageSerializer.serializeMessage(
        builder, MessageHeader.RecordBatch, header, bodyLength, IpcOption.DEFAULT);
  }

  /** The flatbuffer of a message that carries the values of dictionary {@code id}. */
  ByteBuffer encodeDictionaryBatch(long id) {
    FlatBufferBuilder builder = new FlatBufferBuilder();
    int header = DictionaryBatch.createDictionaryBatch(builder, id, addRecordBatch(builder), false);
    return MessageSerializer.serializeMessage(
        builder, MessageHeader.DictionaryBatch, header, bodyLength, IpcOption.DEFAULT);
  }

  // Flatbuffers are built from their end.
  private int addRecordBatch(FlatBufferBuilder builder) {
    RecordBatch.startNodesVector(builder, nodes.size());
    for (int i = nodes.size() - 1; i >= 0; i--) {
      FieldNode.createFieldNode(builder, nodes.get(i).length(), nodes.get(i).nullCount());
    }
    int nodesVector = builder.endVector();
    RecordBatch.startBuffersVector(builder, buffers.size());
    for (int i = buffers.size() - 1; i >= 0; i--) {
      org.apache.arrow.flatbuf.Buffer.createBuffer(
          builder, buffers.get(i).offset(), buffers.get(i).length());
    }
    int buffersVector = builder.endVector();
    return RecordBatch.createRecordBatch(builder, rows, nodesVector, buffersVector, 0, 0);
  }

  /**
   * The message of a flatbuffer.
   *
   * @param metadata in heap memory, where the decoder checks each access
   * @throws ArrowFormatException if it is not a message
   */
  static Message decodeMessage(ByteBuffer metadata) throws ArrowFormatException {
    try {
      Message message = Message.getRootAsMessage(metadata);
      if (message.headerType() == MessageHeader.NONE) {
        throw new ArrowFormatException("a message without a header");
      }
      if (message.bodyLength() < 0 || message.bodyLength() > MAX_BODY_BYTES) {
        throw new ArrowFormatException("a body of " + message.bodyLength() + " bytes");
      }
      return message;
    } catch (IndexOutOfBoundsException e) {
      throw corrupt(metadata, e);
    }
  }

  /**
   * The metadata of a record batch message.
   *
   * @throws ArrowFormatException if {@code message} is another kind of message, is compressed or is
   *     corrupt
   */
  static IpcMetadata decodeRecordBatch(Message message) throws ArrowFormatException {
    try {
      if (message.headerType() != MessageHeader.RecordBatch) {
        throw new ArrowFormatException(
            "expected a record batch, got a message of header type " + message.headerType());
      }
      return decode((RecordBatch) message.header(new RecordBatch()), message);
    } catch (IndexOutOfBoundsException e) {
      throw corrupt(message.getByteBuffer(), e);
    }
  }

  /** The content of a dictionary batch message: the dictionary's id and the batch of its values. */
  record DictionaryMetadata(long id, IpcMetadata values) {}

  /**
   * The metadata of a dictionary batch message.
   *
   * @throws ArrowFormatException if it adds to a dictionary, is compressed or is corrupt
   */
  static DictionaryMetadata decodeDictionaryBatch(Message message) throws ArrowFormatException {
    try {
      DictionaryBatch batch = (DictionaryBatch) message.header(new DictionaryBatch());
      if (batch == null) {
        throw new ArrowFormatException("the message has no dictionary batch");
      }
      if (batch.isDelta()) {
        throw new ArrowFormatException(
            "dictionary " + batch.id() + " is sent as a delta, which is not supported");
      }
      return new DictionaryMetadata(batch.id(), decode(batch.data(), message));
    } catch (IndexOutOfBoundsException e) {
      throw corrupt(message.getByteBuffer(), e);
    }
  }

  private static IpcMetadata decode(RecordBatch batch, Message message)
      throws ArrowFormatException {
    if (batch == null) {
      throw new ArrowFormatException("the message has no record batch");
    }
    if (batch.compression() != null) {
      throw new ArrowFormatException("the body is compressed; only plain bodies are read");
    }
    int limit = message.getByteBuffer().capacity() / NODE_BYTES;
    List<ArrowNode> nodes = new ArrayList<>();
    for (int i = 0; i < checkCount(batch.nodesLength(), limit, "nodes"); i++) {
      nodes.add(ArrowNode.of(batch.nodes(i).length(), batch.nodes(i).nullCount()));
    }
    List<Range> buffers = new ArrayList<>();
    for (int i = 0; i < checkCount(batch.buffersLength(), limit, "buffers"); i++) {
      buffers.add(new Range(batch.buffers(i).offset(), batch.buffers(i).length()));
    }
    return new IpcMetadata(batch.length(), nodes, buffers, message.bodyLength());
  }

  private static int checkCount(int count, int limit, String what) throws ArrowFormatException {
    if (count < 0 || count > limit) {
      throw new ArrowFormatException(
          count + " " + what + " do not fit into the message, which has room for " + limit);
    }
    return count;
  }

  private static ArrowFormatException corrupt(ByteBuffer metadata, RuntimeException cause) {
    return new ArrowFormatException(
        "the message's metadata of " + metadata.capacity() + " bytes is corrupt", cause);
  }
}
