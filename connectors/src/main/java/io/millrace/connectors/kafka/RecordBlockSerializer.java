// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

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

/** Serializes {@link RecordBlock}, but not what limits further blocks. */
@Internal
public final class RecordBlockSerializer extends ImmutableTypeSerializer<RecordBlock> {
  public static final RecordBlockSerializer INSTANCE = new RecordBlockSerializer();

  private static final long serialVersionUID = 1L;

  /** The type information that uses this serializer. */
  static TypeInformation<RecordBlock> typeInformation() {
    return new ImmutableTypeInformation<>(RecordBlock.class, INSTANCE);
  }

  @Override
  public RecordBlock createInstance() {
    return RecordBlock.note(RecordBlock.Kind.BEGIN, "", 0);
  }

  @Override
  public void serialize(RecordBlock block, DataOutputView target) throws IOException {
    target.writeUTF(block.kind().name());
    StringValue.writeString(block.topic(), target);
    target.writeInt(block.partition());
    if (block.kind() == RecordBlock.Kind.RECORDS) {
      target.writeLong(block.nextOffset());
      serializeRecords(block, target);
      target.writeInt(block.rejected().size());
      for (MalformedKafkaRecord record : block.rejected()) {
        MalformedKafkaRecordSerializer.INSTANCE.serialize(record, target);
      }
    }
  }

  private static void serializeRecords(RecordBlock block, DataOutputView target)
      throws IOException {
    int count = block.count();
    int start = block.position(0);
    target.writeInt(count);
    target.writeInt(block.headerCount());
    target.writeInt(block.position(count) - start);
    target.write(block.bytes(), start, block.position(count) - start);
    for (int i = 0; i < count; i++) {
      target.writeInt(block.position(i + 1) - start);
      target.writeLong(block.offset(i));
      target.writeLong(block.timestamp(i));
      NullableBytes.write(block.key(i), target);
      for (int header = 0; header < block.headerCount(); header++) {
        NullableBytes.write(block.header(header, i), target);
      }
    }
  }

  @Override
  public RecordBlock deserialize(DataInputView source) throws IOException {
    RecordBlock.Kind kind = RecordBlock.Kind.valueOf(source.readUTF());
    String topic = StringValue.readString(source);
    int partition = source.readInt();
    if (kind != RecordBlock.Kind.RECORDS) {
      return RecordBlock.note(kind, topic, partition);
    }
    long nextOffset = source.readLong();
    RecordArrays records = deserializeRecords(source);
    List<MalformedKafkaRecord> rejected = new ArrayList<>();
    for (int count = source.readInt(); count > 0; count--) {
      rejected.add(MalformedKafkaRecordSerializer.INSTANCE.deserialize(source));
    }
    return RecordBlock.of(topic, partition, nextOffset, records, rejected, new RecordLimit());
  }

  private static RecordArrays deserializeRecords(DataInputView source) throws IOException {
    int count = source.readInt();
    byte[][][] headers = new byte[source.readInt()][count][];
    byte[] bytes = new byte[source.readInt()];
    source.readFully(bytes);
    int[] positions = new int[count + 1];
    long[] offsets = new long[count];
    long[] timestamps = new long[count];
    byte[][] keys = new byte[count][];
    for (int i = 0; i < count; i++) {
      positions[i + 1] = source.readInt();
      offsets[i] = source.readLong();
      timestamps[i] = source.readLong();
      keys[i] = NullableBytes.read(source);
      for (byte[][] header : headers) {
        header[i] = NullableBytes.read(source);
      }
    }
    return new RecordArrays(bytes, positions, offsets, timestamps, keys, headers);
  }

  @Override
  public TypeSerializerSnapshot<RecordBlock> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The serializer has no configuration. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<RecordBlock> {
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
