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
 * the schema, key group and the body's sizes.
 *
 * @param messageBytes of the Arrow message, before compression
 * @param bodyBytes that follow the header: the message as the codec leaves it
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
   * @param schema of the stream
   * @param fingerprints of {@code schema}, and of it with an {@link EventTimeColumn}
   * @throws IOException if it is not a header, of another version or of another schema
   */
  static BatchHeader read(DataInputView source, Schema schema, Set<Long> fingerprints)
      throws IOException {
    short magic = source.readShort();
    if (magic != MAGIC) {
      throw new IOException("not a batch: it starts with 0x" + Integer.toHexString(magic & 0xffff));
    }
    byte version = source.readByte();
    if (version != VERSION) {
      throw new IOException("a batch of version " + version + "; this reads " + VERSION);
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
      throw new IOException("a batch of key group " + keyGroup);
    }
    if (codec == BodyCodec.RAW && bodyBytes != messageBytes) {
      throw new IOException(bodyBytes + " bytes for a raw message of " + messageBytes);
    }
  }

  private static void checkSize(String what, int bytes) throws IOException {
    if (bytes < 0 || bytes > ColumnBatchSerializer.MAX_BYTES) {
      throw new IOException(
          "a batch with a "
              + what
              + " of "
              + bytes
              + " bytes, which is not within 0 and "
              + ColumnBatchSerializer.MAX_BYTES);
    }
  }
}
