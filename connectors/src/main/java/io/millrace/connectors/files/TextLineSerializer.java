// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

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

/** Serializes {@link TextLine}. */
@Internal
public final class TextLineSerializer extends ImmutableTypeSerializer<TextLine> {
  public static final TextLineSerializer INSTANCE = new TextLineSerializer();

  private static final long serialVersionUID = 1L;
  private static final int NO_HEADER = -1;

  /** The type information that uses this serializer. */
  public static TypeInformation<TextLine> typeInformation() {
    return new ImmutableTypeInformation<>(TextLine.class, INSTANCE);
  }

  @Override
  public TextLine createInstance() {
    return new TextLine("", 0, new byte[0], false);
  }

  @Override
  public void serialize(TextLine line, DataOutputView target) throws IOException {
    StringValue.writeString(line.path(), target);
    target.writeLong(line.offset());
    target.writeBoolean(line.truncated());
    target.writeInt(line.bytes().length);
    target.write(line.bytes());
    target.writeInt(line.header() == null ? NO_HEADER : line.header().length);
    if (line.header() != null) {
      target.write(line.header());
    }
  }

  @Override
  public TextLine deserialize(DataInputView source) throws IOException {
    String path = StringValue.readString(source);
    long offset = source.readLong();
    boolean truncated = source.readBoolean();
    byte[] bytes = new byte[source.readInt()];
    source.readFully(bytes);
    int headerLength = source.readInt();
    byte[] header = headerLength == NO_HEADER ? null : new byte[headerLength];
    if (header != null) {
      source.readFully(header);
    }
    return new TextLine(path, offset, bytes, truncated, header);
  }

  @Override
  public TypeSerializerSnapshot<TextLine> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The serializer has no configuration. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<TextLine> {
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
