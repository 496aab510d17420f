// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import java.io.IOException;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * The schema and codec of a {@link ColumnBatchSerializer}. Another codec is compatible, because
 * each batch says how it is compressed; another schema is not.
 */
@Internal
public final class ColumnBatchSerializerSnapshot implements TypeSerializerSnapshot<ColumnBatch> {
  private static final int VERSION = 1;

  private Schema schema;
  private BodyCodec codec;

  /** For Flink, which then calls {@link #readSnapshot}. */
  public ColumnBatchSerializerSnapshot() {}

  ColumnBatchSerializerSnapshot(Schema schema, BodyCodec codec) {
    this.schema = schema;
    this.codec = codec;
  }

  @Override
  public int getCurrentVersion() {
    return VERSION;
  }

  @Override
  public void writeSnapshot(DataOutputView target) throws IOException {
    target.writeByte(codec.wireNumber());
    SchemaFormat.write(schema, target);
  }

  @Override
  public void readSnapshot(int readVersion, DataInputView source, ClassLoader classLoader)
      throws IOException {
    if (readVersion != VERSION) {
      throw new IOException("expected snapshot version " + VERSION + ", got " + readVersion);
    }
    codec = BodyCodec.of(source.readByte());
    schema = SchemaFormat.read(source);
  }

  @Override
  public TypeSerializer<ColumnBatch> restoreSerializer() {
    return new ColumnBatchSerializer(schema, codec);
  }

  @Override
  public TypeSerializerSchemaCompatibility<ColumnBatch> resolveSchemaCompatibility(
      TypeSerializerSnapshot<ColumnBatch> oldSerializerSnapshot) {
    return oldSerializerSnapshot instanceof ColumnBatchSerializerSnapshot old
            && schema.equals(old.schema)
        ? TypeSerializerSchemaCompatibility.compatibleAsIs()
        : TypeSerializerSchemaCompatibility.incompatible();
  }
}
