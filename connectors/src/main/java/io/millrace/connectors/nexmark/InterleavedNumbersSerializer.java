// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Serializes collections of splits, in checkpoints. */
final class InterleavedNumbersSerializer
    implements SimpleVersionedSerializer<Collection<InterleavedNumbers>> {
  private static final int VERSION = 2;
  private static final int SPLIT_BYTES = 24;

  @Override
  public int getVersion() {
    return VERSION;
  }

  @Override
  public byte[] serialize(Collection<InterleavedNumbers> splits) throws IOException {
    DataOutputSerializer out =
        new DataOutputSerializer(Integer.BYTES + splits.size() * SPLIT_BYTES);
    out.writeInt(splits.size());
    for (InterleavedNumbers split : splits) {
      out.writeInt(split.index());
      out.writeInt(split.splitCount());
      out.writeLong(split.next());
      out.writeLong(split.end());
    }
    return out.getCopyOfBuffer();
  }

  @Override
  public List<InterleavedNumbers> deserialize(int version, byte[] serialized) throws IOException {
    if (version != VERSION) {
      throw new IOException("splits of version " + version + " cannot be read, only " + VERSION);
    }
    DataInputDeserializer in = new DataInputDeserializer(serialized);
    List<InterleavedNumbers> splits = new ArrayList<>();
    for (int i = in.readInt(); i > 0; i--) {
      splits.add(new InterleavedNumbers(in.readInt(), in.readInt(), in.readLong(), in.readLong()));
    }
    return splits;
  }

  /** Serializes one split. */
  SimpleVersionedSerializer<InterleavedNumbers> ofOne() {
    return new SimpleVersionedSerializer<>() {
      @Override
      public int getVersion() {
        return VERSION;
      }

      @Override
      public byte[] serialize(InterleavedNumbers split) throws IOException {
        return InterleavedNumbersSerializer.this.serialize(List.of(split));
      }

      @Override
      public InterleavedNumbers deserialize(int version, byte[] serialized) throws IOException {
        return InterleavedNumbersSerializer.this.deserialize(version, serialized).get(0);
      }
    };
  }
}
