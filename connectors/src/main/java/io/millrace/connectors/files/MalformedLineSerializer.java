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

/** Serializes {@link MalformedLine}. */
@Internal
public final class MalformedLineSerializer extends ImmutableTypeSerializer<MalformedLine> {
  public static final MalformedLineSerializer INSTANCE = new MalformedLineSerializer();

  private static final long serialVersionUID = 1L;

  /** The type information that uses this serializer. */
  public static TypeInformation<MalformedLine> typeInformation() {
    return new ImmutableTypeInformation<>(MalformedLine.class, INSTANCE);
  }

  @Override
  public MalformedLine createInstance() {
    return new MalformedLine(TextLineSerializer.INSTANCE.createInstance(), "");
  }

  @Override
  public void serialize(MalformedLine malformed, DataOutputView target) throws IOException {
    TextLineSerializer.INSTANCE.serialize(malformed.line(), target);
    StringValue.writeString(malformed.reason(), target);
  }

  @Override
  public MalformedLine deserialize(DataInputView source) throws IOException {
    TextLine line = TextLineSerializer.INSTANCE.deserialize(source);
    return new MalformedLine(line, StringValue.readString(source));
  }

  @Override
  public TypeSerializerSnapshot<MalformedLine> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The serializer has no configuration. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<MalformedLine> {
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
