// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

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

/** Serializes {@link MalformedKafkaRecord}. */
@Internal
public final class MalformedKafkaRecordSerializer
    extends ImmutableTypeSerializer<MalformedKafkaRecord> {
  public static final MalformedKafkaRecordSerializer INSTANCE =
      new MalformedKafkaRecordSerializer();

  private static final long serialVersionUID = 1L;

  /** The type information that uses this serializer. */
  public static TypeInformation<MalformedKafkaRecord> typeInformation() {
    return new ImmutableTypeInformation<>(MalformedKafkaRecord.class, INSTANCE);
  }

  @Override
  public MalformedKafkaRecord createInstance() {
    return new MalformedKafkaRecord("", 0, 0, -1, null, null, "");
  }

  @Override
  public void serialize(MalformedKafkaRecord record, DataOutputView target) throws IOException {
    StringValue.writeString(record.topic(), target);
    target.writeInt(record.partition());
    target.writeLong(record.offset());
    target.writeLong(record.timestamp());
    NullableBytes.write(record.key(), target);
    NullableBytes.write(record.value(), target);
    StringValue.writeString(record.reason(), target);
  }

  @Override
  public MalformedKafkaRecord deserialize(DataInputView source) throws IOException {
    return new MalformedKafkaRecord(
        StringValue.readString(source),
        source.readInt(),
        source.readLong(),
        source.readLong(),
        NullableBytes.read(source),
        NullableBytes.read(source),
        StringValue.readString(source));
  }

  @Override
  public TypeSerializerSnapshot<MalformedKafkaRecord> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The serializer has no configuration. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<MalformedKafkaRecord> {
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
