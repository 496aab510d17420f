// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * The header before the body of a serialized batch: magic number, version, codec, fingerprint of
 * the schema, key group, and the size of the body before and after compression.
 *
 * @param processingTime {@link ColumnBatch#processingTime}; version 2 has it, and is written only
 *     for a batch that has one
 * @param messageBytes the size of the Arrow message before compression
 * @param bodyBytes the size of the body that follows the header: the message after compression
 */
record BatchHeader(
    BodyCodec codec,
    long fingerprint,
    int keyGroup,
    OptionalLong processingTime,
    int messageBytes,
    int bodyBytes) {
  /** The size of a header without a time. */
  static final int BYTES = 4 * Byte.BYTES + Long.BYTES + 3 * Integer.BYTES;

  static final int MAX_BYTES = BYTES + Long.BYTES;

  // "MB", for Millrace batch.
  private static final int MAGIC = 0x4d42;
  private static final byte VERSION = 1;
  private static final byte VERSION_WITH_TIME = 2;

  void write(DataOutputView target) throws IOException {
    target.writeShort(MAGIC);
    target.writeByte(processingTime.isPresent() ? VERSION_WITH_TIME : VERSION);
    target.writeByte(codec.wireNumber());
    target.writeLong(fingerprint);
    target.writeInt(keyGroup);
    target.writeInt(messageBytes);
    target.writeInt(bodyBytes);
    if (processingTime.isPresent()) {
      target.writeLong(processingTime.getAsLong());
    }
  }

  /**
   * Reads and checks a header.
   *
   * @param schema the stream's schema
   * @param fingerprints the fingerprints of {@code schema} without and with an {@link
   *     EventTimeColumn}
   * @throws IOException if the bytes are not a header, or the header has another version, an
   *     unknown codec, another schema, or a size or key group that is out of range
   */
  static BatchHeader read(DataInputView source, Schema schema, Set<Long> fingerprints)
      throws IOException {
    short magic = source.readShort();
    if (magic != MAGIC) {
      throw new IOException(
          "expected a batch, got bytes that start with 0x" + Integer.toHexString(magic & 0xffff));
    }
    byte version = source.readByte();
    if (version != VERSION && version != VERSION_WITH_TIME) {
      throw new IOException(
          "expected batch version " + VERSION + " or " + VERSION_WITH_TIME + ", got " + version);
    }
    BodyCodec codec = BodyCodec.of(source.readByte());
    long fingerprint = source.readLong();
    int keyGroup = source.readInt();
    int messageBytes = source.readInt();
    int bodyBytes = source.readInt();
    OptionalLong time =
        version == VERSION ? OptionalLong.empty() : OptionalLong.of(source.readLong());
    BatchHeader header =
        new BatchHeader(codec, fingerprint, keyGroup, time, messageBytes, bodyBytes);
    if (!fingerprints.contains(header.fingerprint)) {
      throw new IOException(
          String.format(
              "a batch of another schema (fingerprint %016x) than %s (%016x)",
              header.fingerprint, schema, schema.fingerprint()));
    }
    header.check();
    return header;
  }

  private void check() throws IOException {
    checkSize("message", messageBytes);
    checkSize("body", bodyBytes);
    if (keyGroup < ColumnBatch.NONE) {
      throw new IOException(
          "expected key group " + ColumnBatch.NONE + " or greater, got " + keyGroup);
    }
    if (codec == BodyCodec.RAW && bodyBytes != messageBytes) {
      throw new IOException("expected a raw body of " + messageBytes + " bytes, got " + bodyBytes);
    }
  }

  private static void checkSize(String what, int bytes) throws IOException {
    if (bytes < 0 || bytes > ColumnBatchSerializer.MAX_BYTES) {
      throw new IOException(
          "expected a "
              + what
              + " of 0 to "
              + ColumnBatchSerializer.MAX_BYTES
              + " bytes, got "
              + bytes);
    }
  }
}
