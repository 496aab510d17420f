// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.source;

import io.millrace.connectors.postgres.source.KeyRange.Bound;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Serializes collections of ranges, in checkpoints and on the way to readers. */
final class KeyRangesSerializer implements SimpleVersionedSerializer<Collection<KeyRange>> {
  private static final int VERSION = 1;
  private static final int EXPECTED_BYTES = 64;
  private static final int NONE = -1;

  @Override
  public int getVersion() {
    return VERSION;
  }

  @Override
  public byte[] serialize(Collection<KeyRange> ranges) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(EXPECTED_BYTES);
    out.writeInt(ranges.size());
    for (KeyRange range : ranges) {
      out.writeInt(range.index());
      write(range.lower(), out);
      write(range.upper(), out);
      write(range.position(), out);
      out.writeUTF(range.snapshot());
    }
    return out.getCopyOfBuffer();
  }

  // A key may be longer than writeUTF can write.
  private static void write(Bound bound, DataOutputSerializer out) throws IOException {
    if (bound.isNone()) {
      out.writeInt(NONE);
    } else {
      byte[] bytes = bound.key().getBytes(StandardCharsets.UTF_8);
      out.writeInt(bytes.length);
      out.write(bytes);
    }
  }

  @Override
  public List<KeyRange> deserialize(int version, byte[] serialized) throws IOException {
    if (version != VERSION) {
      throw new IOException("ranges of version " + version + " cannot be read, only " + VERSION);
    }
    DataInputDeserializer in = new DataInputDeserializer(serialized);
    List<KeyRange> ranges = new ArrayList<>();
    for (int i = in.readInt(); i > 0; i--) {
      ranges.add(new KeyRange(in.readInt(), read(in), read(in), read(in), in.readUTF()));
    }
    return ranges;
  }

  private static Bound read(DataInputDeserializer in) throws IOException {
    int length = in.readInt();
    if (length == NONE) {
      return Bound.NONE;
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return new Bound(new String(bytes, StandardCharsets.UTF_8));
  }

  /** Serializes one range. */
  SimpleVersionedSerializer<KeyRange> ofOne() {
    return new SimpleVersionedSerializer<>() {
      @Override
      public int getVersion() {
        return VERSION;
      }

      @Override
      public byte[] serialize(KeyRange range) throws IOException {
        return KeyRangesSerializer.this.serialize(List.of(range));
      }

      @Override
      public KeyRange deserialize(int version, byte[] serialized) throws IOException {
        return KeyRangesSerializer.this.deserialize(version, serialized).get(0);
      }
    };
  }
}
