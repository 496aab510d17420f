// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Serializes staged rows, in checkpoints and on the way to the committer. */
final class StagedRowsSerializer implements SimpleVersionedSerializer<StagedRows> {
  private static final int VERSION = 1;
  private static final int EXPECTED_BYTES = 64;

  @Override
  public int getVersion() {
    return VERSION;
  }

  @Override
  public byte[] serialize(StagedRows rows) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(EXPECTED_BYTES);
    out.writeUTF(rows.writer());
    out.writeLong(rows.sequence());
    out.writeInt(rows.leftovers().size());
    for (String leftover : rows.leftovers()) {
      out.writeUTF(leftover);
    }
    return out.getCopyOfBuffer();
  }

  @Override
  public StagedRows deserialize(int version, byte[] serialized) throws IOException {
    if (version != VERSION) {
      throw new IOException(
          "staged rows of version " + version + " cannot be read, only " + VERSION);
    }
    DataInputDeserializer in = new DataInputDeserializer(serialized);
    String writer = in.readUTF();
    long sequence = in.readLong();
    List<String> leftovers = new ArrayList<>();
    for (int i = in.readInt(); i > 0; i--) {
      leftovers.add(in.readUTF());
    }
    return new StagedRows(writer, sequence, leftovers);
  }
}
