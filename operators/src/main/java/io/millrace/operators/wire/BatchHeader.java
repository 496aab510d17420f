// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import java.io.IOException;
import java.util.Set;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * The header before the body of a serialized batch: magic number, version, codec, fingerprint of
 * the schema, key group, and the size of the body before and after compression.
 *
 * @param messageBytes the size of the Arrow message before compression
 * @param bodyBytes the size of the body that follows the header: the message after compression
 */
record BatchHeader(
    BodyCodec codec, long fingerprint, int keyGroup, int messageBytes, int bodyBytes) {
  static final int BYTES = 4 * Byte.BYTES + Long.BYTES + 3 * Integer.BYTES;

  // "MB", for Millrace batch.
  private static final int MAGIC = 0x4d42;
  private static final byte VERSION = 1;

  void write(DataOutputView target) throws IOException {
    target.writeShort(MAGIC);
    target.writeByte(VERSION);
    target.writeByte(codec.wireNumber());
    target.writeLong(fingerprint);
    target.writeInt(keyGroup);
    target.writeInt(messageBytes);
    target.writeInt(bodyBytes);
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
    if (version != VERSION) {
      throw new IOException("expected batch version " + VERSION + ", got " + version);
    }
    BatchHeader header =
        new BatchHeader(
            BodyCodec.of(source.readByte()),
            source.readLong(),
            source.readInt(),
            source.readInt(),
            source.readInt());
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
