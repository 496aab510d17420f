// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.block;

import io.millrace.operators.wire.ImmutableTypeInformation;
import io.millrace.operators.wire.ImmutableTypeSerializer;
import java.io.IOException;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.StringValue;

/** Serializes {@link TextBlock}, but not what limits further blocks. */
@Internal
public final class TextBlockSerializer extends ImmutableTypeSerializer<TextBlock> {
  public static final TextBlockSerializer INSTANCE = new TextBlockSerializer();

  private static final long serialVersionUID = 1L;

  /** The type information that uses this serializer. */
  static TypeInformation<TextBlock> typeInformation() {
    return new ImmutableTypeInformation<>(TextBlock.class, INSTANCE);
  }

  @Override
  public TextBlock createInstance() {
    return new TextBlock("", 0, new byte[0], 0, false, null, new BlockLimit());
  }

  @Override
  public void serialize(TextBlock block, DataOutputView target) throws IOException {
    StringValue.writeString(block.path(), target);
    target.writeLong(block.offset());
    target.writeBoolean(block.truncated());
    writeBytes(block.array(), block.length(), target);
    target.writeBoolean(block.header() != null);
    if (block.header() != null) {
      writeBytes(block.header(), block.header().length, target);
    }
  }

  private static void writeBytes(byte[] bytes, int length, DataOutputView target)
      throws IOException {
    target.writeInt(length);
    target.write(bytes, 0, length);
  }

  private static byte[] readBytes(DataInputView source) throws IOException {
    byte[] bytes = new byte[source.readInt()];
    source.readFully(bytes);
    return bytes;
  }

  @Override
  public TextBlock deserialize(DataInputView source) throws IOException {
    String path = StringValue.readString(source);
    long offset = source.readLong();
    boolean truncated = source.readBoolean();
    byte[] bytes = readBytes(source);
    byte[] header = source.readBoolean() ? readBytes(source) : null;
    return new TextBlock(path, offset, bytes, bytes.length, truncated, header, new BlockLimit());
  }

  @Override
  public TypeSerializerSnapshot<TextBlock> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The serializer has no configuration. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<TextBlock> {
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
