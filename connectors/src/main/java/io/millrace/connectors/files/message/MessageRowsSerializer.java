// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.message;

import io.millrace.connectors.files.message.MessageRows.RowLimit;
import io.millrace.connectors.files.scan.ScanEnd;
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

/** Serializes {@link MessageRows} with the whole message. */
@Internal
public final class MessageRowsSerializer extends ImmutableTypeSerializer<MessageRows> {
  public static final MessageRowsSerializer INSTANCE = new MessageRowsSerializer();

  private static final long serialVersionUID = 1L;

  /** The type information that uses this serializer. */
  public static TypeInformation<MessageRows> typeInformation() {
    return new ImmutableTypeInformation<>(MessageRows.class, INSTANCE);
  }

  @Override
  public MessageRows createInstance() {
    return new MessageRows("", new byte[0], 0, 0, new RowLimit(new ScanEnd()));
  }

  @Override
  public void serialize(MessageRows rows, DataOutputView target) throws IOException {
    StringValue.writeString(rows.path(), target);
    target.writeInt(rows.message().length);
    target.write(rows.message());
    target.writeInt(rows.firstRow());
    target.writeInt(rows.rows());
  }

  @Override
  public MessageRows deserialize(DataInputView source) throws IOException {
    String path = StringValue.readString(source);
    byte[] message = new byte[source.readInt()];
    source.readFully(message);
    return new MessageRows(
        path, message, source.readInt(), source.readInt(), new RowLimit(new ScanEnd()));
  }

  @Override
  public TypeSerializerSnapshot<MessageRows> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The serializer has no configuration. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<MessageRows> {
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
