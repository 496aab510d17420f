// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.connectors.kafka.NullableBytes;
import io.millrace.operators.wire.ImmutableTypeInformation;
import io.millrace.operators.wire.ImmutableTypeSerializer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.StringValue;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** Serializes {@link KafkaRecord}. */
@Internal
public final class KafkaRecordSerializer extends ImmutableTypeSerializer<KafkaRecord> {
  public static final KafkaRecordSerializer INSTANCE = new KafkaRecordSerializer();

  private static final long serialVersionUID = 1L;

  /** The type information that uses this serializer. */
  public static TypeInformation<KafkaRecord> typeInformation() {
    return new ImmutableTypeInformation<>(KafkaRecord.class, INSTANCE);
  }

  @Override
  public KafkaRecord createInstance() {
    return new KafkaRecord(null, null, KafkaRecord.NO_TIMESTAMP);
  }

  @Override
  public void serialize(KafkaRecord record, DataOutputView target) throws IOException {
    NullableBytes.write(record.key(), target);
    NullableBytes.write(record.value(), target);
    target.writeLong(record.timestamp());
    target.writeInt(record.headers().size());
    for (Header header : record.headers()) {
      StringValue.writeString(header.key(), target);
      NullableBytes.write(header.value(), target);
    }
  }

  @Override
  public KafkaRecord deserialize(DataInputView source) throws IOException {
    byte[] key = NullableBytes.read(source);
    byte[] value = NullableBytes.read(source);
    long timestamp = source.readLong();
    List<Header> headers = new ArrayList<>();
    for (int count = source.readInt(); count > 0; count--) {
      headers.add(new RecordHeader(StringValue.readString(source), NullableBytes.read(source)));
    }
    return new KafkaRecord(key, value, timestamp, headers);
  }

  @Override
  public TypeSerializerSnapshot<KafkaRecord> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The serializer has no configuration. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<KafkaRecord> {
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
