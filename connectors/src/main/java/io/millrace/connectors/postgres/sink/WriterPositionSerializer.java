// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import java.io.IOException;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Serializes the positions of writers, in checkpoints. */
final class WriterPositionSerializer implements SimpleVersionedSerializer<WriterPosition> {
  private static final int VERSION = 1;
  private static final int EXPECTED_BYTES = 32;

  @Override
  public int getVersion() {
    return VERSION;
  }

  @Override
  public byte[] serialize(WriterPosition position) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(EXPECTED_BYTES);
    out.writeUTF(position.writer());
    out.writeLong(position.next());
    return out.getCopyOfBuffer();
  }

  @Override
  public WriterPosition deserialize(int version, byte[] serialized) throws IOException {
    if (version != VERSION) {
      throw new IOException(
          "writer positions of version " + version + " cannot be read, only " + VERSION);
    }
    DataInputDeserializer in = new DataInputDeserializer(serialized);
    return new WriterPosition(in.readUTF(), in.readLong());
  }
}
