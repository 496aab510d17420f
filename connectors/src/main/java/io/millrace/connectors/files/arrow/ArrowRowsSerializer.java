// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.arrow;

import io.millrace.connectors.files.arrow.ArrowRows.RowLimit;
import io.millrace.operators.wire.ImmutableTypeInformation;
import io.millrace.operators.wire.ImmutableTypeSerializer;
import java.io.IOException;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes {@link ArrowRows} with the whole message. */
@Internal
public final class ArrowRowsSerializer extends ImmutableTypeSerializer<ArrowRows> {
  public static final ArrowRowsSerializer INSTANCE = new ArrowRowsSerializer();

  private static final long serialVersionUID = 1L;

  /** The type information that uses this serializer. */
  static TypeInformation<ArrowRows> typeInformation() {
    return new ImmutableTypeInformation<>(ArrowRows.class, INSTANCE);
  }

  @Override
  public ArrowRows createInstance() {
    return new ArrowRows(new byte[0], 0, 0, new RowLimit(0));
  }

  @Override
  public void serialize(ArrowRows rows, DataOutputView target) throws IOException {
    target.writeInt(rows.message().length);
    target.write(rows.message());
    target.writeInt(rows.firstRow());
    target.writeInt(rows.rows());
  }

  @Override
  public ArrowRows deserialize(DataInputView source) throws IOException {
    byte[] message = new byte[source.readInt()];
    source.readFully(message);
    return new ArrowRows(message, source.readInt(), source.readInt(), new RowLimit(0));
  }

  @Override
  public TypeSerializerSnapshot<ArrowRows> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The serializer has no configuration. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<ArrowRows> {
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
