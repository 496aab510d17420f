// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceKind;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputViewStreamWrapper;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ColumnBatchSerializerTest {
  private static final Schema ALL_TYPES =
      DataTypes.schema(
          Stream.concat(DataTypes.flat().stream(), DataTypes.nested().stream()).toList());
  private static final Schema IDS = Schema.of(new Field("id", DataType.INT64, false));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final long liveBefore = ColumnBatch.liveBatches();

  @AfterEach
  void noBatchIsLive() {
    assertThat(ColumnBatch.liveBatches()).isEqualTo(liveBefore);
  }

  private static byte[] serialize(TypeSerializer<ColumnBatch> serializer, ColumnBatch batch)
      throws IOException {
    DataOutputSerializer output = new DataOutputSerializer(64);
    serializer.serialize(batch, output);
    return output.getCopyOfBuffer();
  }

  private static byte[] serializeAndRelease(TypeSerializer<ColumnBatch> serializer, Table table)
      throws IOException {
    ColumnBatch batch = new ColumnBatch(table);
    try {
      return serialize(serializer, batch);
    } finally {
      batch.release();
    }
  }

  private Table ids(int rows) {
    return TableBuilder.ofRows(IDS, Collections.nCopies(rows, List.of(7L))).build(device);
  }

  @ParameterizedTest
  @EnumSource(BodyCodec.class)
  void allTypesComeBackWithTheirValues(BodyCodec codec) throws IOException {
    RandomTables tables = new RandomTables(random.random(), 0.2);
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(ALL_TYPES, codec);
    for (int rows : new int[] {0, 1, 31, 33, 257, 1_500}) {
      for (boolean sliced : new boolean[] {false, true}) {
        Table table =
            sliced
                ? tables.generateSliced(ALL_TYPES, rows, device)
                : tables.generate(ALL_TYPES, rows, device);
        List<List<Object>> expected = device.rows(table);
        byte[] bytes = serializeAndRelease(serializer, table);

        DataInputDeserializer input = new DataInputDeserializer(bytes);
        ColumnBatch read = serializer.deserialize(input);
        assertThat(input.available()).isZero();
        assertThat(read.table().schema()).isEqualTo(ALL_TYPES);
        assertThat(read.table().columns())
            .allSatisfy(
                column ->
                    assertThat(column.device())
                        .hasValueSatisfying(
                            home -> assertThat(home.kind()).isEqualTo(DeviceKind.HOST)));
        assertThat(device.rows(read.table())).isEqualTo(expected);
        read.release();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(BodyCodec.class)
  void eventTimesTravelWithTheRowsOfSomeBatches(BodyCodec codec) throws IOException {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(IDS, codec);
    List<List<Object>> rows = List.of(List.of(7L, 100L), List.of(8L, EventTimeColumn.NONE));
    Table timed = TableBuilder.ofRows(EventTimeColumn.addTo(IDS), rows).build(device);
    DataOutputSerializer copied = new DataOutputSerializer(64);
    serializer.copy(new DataInputDeserializer(serializeAndRelease(serializer, timed)), copied);
    copied.write(serializeAndRelease(serializer, ids(2)));

    DataInputDeserializer input = new DataInputDeserializer(copied.getCopyOfBuffer());
    ColumnBatch first = serializer.deserialize(input);
    ColumnBatch second = serializer.deserialize(input);
    assertThat(device.rows(first.tableWithEventTimes())).isEqualTo(rows);
    assertThat(first.table().schema()).isEqualTo(IDS);
    assertThat(device.rows(first.table())).containsExactly(List.of(7L), List.of(8L));
    assertThat(second.tableWithEventTimes().schema()).isEqualTo(IDS);
    assertThat(device.rows(second.table())).containsExactly(List.of(7L), List.of(7L));
    first.release();
    second.release();
  }

  @ParameterizedTest
  @EnumSource(BodyCodec.class)
  void someBatchesHaveAProcessingTime(BodyCodec codec) throws IOException {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(IDS, codec);
    ColumnBatch timed = ColumnBatch.atProcessingTime(ids(2), -3);
    DataOutputSerializer copied = new DataOutputSerializer(64);
    byte[] bytes = serialize(serializer, timed);
    timed.release();
    serializer.copy(new DataInputDeserializer(bytes), copied);
    copied.write(serializeAndRelease(serializer, ids(1)));

    DataInputDeserializer input = new DataInputDeserializer(copied.getCopyOfBuffer());
    ColumnBatch first = serializer.deserialize(input);
    ColumnBatch second = serializer.deserialize(input);
    assertThat(first.processingTime()).hasValue(-3);
    assertThat(device.rows(first.table())).containsExactly(List.of(7L), List.of(7L));
    assertThat(second.processingTime()).isEmpty();
    assertThat(device.rows(second.table())).containsExactly(List.of(7L));
    first.release();
    second.release();
    for (int length = 0; length < bytes.length; length++) {
      byte[] truncated = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> serializer.deserialize(new DataInputDeserializer(truncated)))
          .as("%s of %s bytes", length, bytes.length)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("cut short");
    }
  }

  @ParameterizedTest
  @EnumSource(BodyCodec.class)
  void largeBuffersAreWrittenWithAndWithoutTheFastPath(BodyCodec codec) throws IOException {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(IDS, codec);
    int rows = ColumnBatchSerializer.FAST_BYTES / Long.BYTES + 1;
    ColumnBatch batch = new ColumnBatch(ids(rows));
    byte[] fast = serialize(serializer, batch);
    java.io.ByteArrayOutputStream slow = new java.io.ByteArrayOutputStream();
    serializer.serialize(batch, new DataOutputViewStreamWrapper(slow));
    batch.release();
    assertThat(slow.toByteArray()).isEqualTo(fast);
    if (codec == BodyCodec.ZSTD) {
      assertThat(fast.length).isLessThan(rows);
    }
    ColumnBatch read = serializer.deserialize(new DataInputDeserializer(fast));
    assertThat(device.rows(read.table())).hasSize(rows).containsOnly(List.of(7L));
    read.release();
  }

  @Test
  void theSizeBoundHoldsAndIsClose() throws IOException {
    RandomTables tables = new RandomTables(random.random(), 0.2);
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(ALL_TYPES, BodyCodec.RAW);
    for (int rows : new int[] {0, 1, 40, 1_000}) {
      Table table = tables.generateSliced(ALL_TYPES, rows, device);
      long bound;
      try (Table host = device.copyToHost(table)) {
        bound = EncodedSize.upperBound(host, device.hostStream());
      }
      int size = serializeAndRelease(serializer, table).length;
      assertThat(bound).isBetween((long) size, size * 5L / 4 + 8_192);
    }
  }

  @Test
  void anotherSchemaIsRefusedOnBothSides() throws IOException {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(IDS, BodyCodec.RAW);
    Schema renamed = Schema.of(new Field("key", DataType.INT64, false));
    byte[] bytes = serializeAndRelease(serializer, ids(3));
    ColumnBatchSerializer other = new ColumnBatchSerializer(renamed, BodyCodec.RAW);
    assertThatThrownBy(() -> other.deserialize(new DataInputDeserializer(bytes)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("another schema")
        .hasMessageContaining("(key BIGINT NOT NULL)");
    assertThatThrownBy(() -> serializeAndRelease(other, ids(3)))
        .isInstanceOf(IOException.class)
        .hasMessage("a batch of (id BIGINT NOT NULL) in a stream of (key BIGINT NOT NULL)");
  }

  @Test
  void corruptHeadersAreRefused() throws IOException {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(IDS, BodyCodec.RAW);
    byte[] bytes = serializeAndRelease(serializer, ids(3));
    assertRefused(serializer, bytes, 0, "expected a batch, got bytes");
    assertRefused(serializer, bytes, 2, "got 127");
    assertRefused(serializer, bytes, 3, "codec");
    assertRefused(serializer, bytes, 4, "another schema");
    assertRefused(serializer, bytes, 16, "expected a message of");
    assertRefused(serializer, bytes, 20, "expected a body of");
    assertRefused(serializer, bytes, 23, "expected a raw body of");
  }

  private static void assertRefused(
      ColumnBatchSerializer serializer, byte[] bytes, int position, String message) {
    byte[] corrupt = bytes.clone();
    corrupt[position] = Byte.MAX_VALUE;
    assertThatThrownBy(() -> serializer.deserialize(new DataInputDeserializer(corrupt)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @EnumSource(BodyCodec.class)
  void everyTruncationIsRefused(BodyCodec codec) throws IOException {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(IDS, codec);
    byte[] bytes = serializeAndRelease(serializer, ids(3));
    for (int length = 0; length < bytes.length; length++) {
      byte[] truncated = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> serializer.deserialize(new DataInputDeserializer(truncated)))
          .as("%s of %s bytes", length, bytes.length)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("cut short");
    }
  }

  @Test
  void aCorruptFrameIsRefused() throws IOException {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(IDS, BodyCodec.ZSTD);
    byte[] bytes = serializeAndRelease(serializer, ids(300));
    Arrays.fill(bytes, BatchHeader.BYTES, bytes.length, (byte) 1);
    assertThatThrownBy(() -> serializer.deserialize(new DataInputDeserializer(bytes)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("Zstandard");
  }

  @Test
  void batchesThatFlinkCannotSendAtOnceAreRefused() throws IOException {
    int rows = 1 << 20;
    int columns = ColumnBatchSerializer.MAX_BYTES / (rows * Long.BYTES) + 1;
    List<Field> fields = new ArrayList<>();
    List<Column> sameColumn = new ArrayList<>();
    try (Table ids = ids(rows);
        Table one = device.copyToHost(ids)) {
      for (int i = 0; i < columns; i++) {
        fields.add(new Field("id" + i, DataType.INT64, false));
        sameColumn.add(one.column(0).share());
      }
    }
    Schema schema = new Schema(fields);
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(schema, BodyCodec.RAW);
    Table table = new Table(schema, sameColumn, rows);
    assertThatThrownBy(() -> serializeAndRelease(serializer, table))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("a batch of " + rows + " rows has 20")
        .hasMessageContaining("BatchExchange");
  }

  @ParameterizedTest
  @EnumSource(BodyCodec.class)
  void aBatchOfOneKeyGroupHoldsNoMemoryUntilItsTableIsAskedFor(BodyCodec codec) throws IOException {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(IDS, codec);
    ColumnBatch batch = ColumnBatch.ofKeyGroup(ids(3), 5);
    byte[] bytes = serialize(serializer, batch);
    batch.release();

    ColumnBatch dropped = serializer.deserialize(new DataInputDeserializer(bytes));
    assertThat(dropped.keyGroup()).isEqualTo(5);
    device.assertNothingHeld();
    assertThat(serialize(serializer, dropped)).isEqualTo(bytes);
    device.assertNothingHeld();

    ColumnBatch released = serializer.deserialize(new DataInputDeserializer(bytes));
    released.release();
    assertThatThrownBy(released::table).isInstanceOf(IllegalStateException.class);

    ColumnBatch used = serializer.deserialize(new DataInputDeserializer(bytes));
    assertThat(used.rowCount()).isEqualTo(3);
    assertThat(ColumnBatch.liveBatches()).isEqualTo(liveBefore + 1);
    assertThat(serialize(serializer, used)).isEqualTo(bytes);
    used.release();
  }

  @Test
  void copiesAreTheSameBatchAndTheSameBytes() throws IOException {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(IDS, BodyCodec.ZSTD);
    ColumnBatch batch = new ColumnBatch(ids(3));
    assertThat(serializer.copy(batch)).isSameAs(batch);
    assertThat(serializer.copy(batch, null)).isSameAs(batch);
    byte[] bytes = serialize(serializer, batch);
    batch.release();
    DataOutputSerializer target = new DataOutputSerializer(64);
    serializer.copy(new DataInputDeserializer(bytes), target);
    assertThat(target.getCopyOfBuffer()).isEqualTo(bytes);
  }

  @Test
  void aFailedWriteReleasesWhatItTook() {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(ALL_TYPES, BodyCodec.RAW);
    Table table = new RandomTables(random.random(), 0.2).generate(ALL_TYPES, 50, device);
    ColumnBatch batch = new ColumnBatch(table);
    OutputStream broken =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("broken pipe");
          }
        };
    assertThatThrownBy(() -> serializer.serialize(batch, new DataOutputViewStreamWrapper(broken)))
        .hasMessage("broken pipe");
    batch.release();
  }

  @Test
  void snapshotsSayWhetherStateCanBeRead() throws Exception {
    ColumnBatchSerializer serializer = new ColumnBatchSerializer(ALL_TYPES, BodyCodec.RAW);
    TypeSerializerSnapshot<ColumnBatch> snapshot = throughBytes(serializer);
    assertThat(snapshot.restoreSerializer()).isEqualTo(serializer);

    TypeSerializerSnapshot<ColumnBatch> compressed =
        new ColumnBatchSerializer(ALL_TYPES, BodyCodec.ZSTD).snapshotConfiguration();
    assertThat(compressed.resolveSchemaCompatibility(snapshot).isCompatibleAsIs()).isTrue();
    TypeSerializerSnapshot<ColumnBatch> other =
        new ColumnBatchSerializer(IDS, BodyCodec.RAW).snapshotConfiguration();
    assertThat(other.resolveSchemaCompatibility(snapshot).isIncompatible()).isTrue();
  }

  private static TypeSerializerSnapshot<ColumnBatch> throughBytes(
      TypeSerializer<ColumnBatch> serializer) throws IOException {
    DataOutputSerializer output = new DataOutputSerializer(64);
    TypeSerializerSnapshot.writeVersionedSnapshot(output, serializer.snapshotConfiguration());
    return TypeSerializerSnapshot.readVersionedSnapshot(
        new DataInputDeserializer(output.getCopyOfBuffer()),
        ColumnBatchSerializerTest.class.getClassLoader());
  }

  @Test
  void typesAndSerializersAreEqualBySchemaAndCodecAndTravelWithTheJob() throws Exception {
    ColumnBatchTypeInformation type = new ColumnBatchTypeInformation(ALL_TYPES, BodyCodec.ZSTD);
    assertThat(InstantiationUtil.clone(type)).isEqualTo(type).hasSameHashCodeAs(type);
    assertThat(type).asString().endsWith(" ZSTD");
    assertThat(type).isNotEqualTo(new ColumnBatchTypeInformation(ALL_TYPES));
    assertThat(type).isNotEqualTo(new ColumnBatchTypeInformation(IDS, BodyCodec.ZSTD));
    TypeSerializer<ColumnBatch> serializer = type.createSerializer(null);
    assertThat(InstantiationUtil.clone(serializer))
        .isEqualTo(serializer)
        .hasSameHashCodeAs(serializer);
    assertThat(serializer.duplicate()).isEqualTo(serializer).isNotSameAs(serializer);
    assertThat(serializer.isImmutableType()).isTrue();
    assertThat(serializer.getLength()).isEqualTo(-1);
  }
}
