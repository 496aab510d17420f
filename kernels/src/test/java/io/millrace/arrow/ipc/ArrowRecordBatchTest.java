// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.ipc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowSchemaConverter;
import io.millrace.arrow.SuspectTables;
import io.millrace.arrow.VectorRows;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArrowRecordBatchTest {
  private static final Schema SCHEMA =
      DataTypes.schema(
          Stream.of(
                  DataTypes.flat(),
                  DataTypes.nested(),
                  List.of(
                      DataType.timestamp(0),
                      DataType.timestamp(4, true),
                      DataType.timestamp(7),
                      DataType.decimal(5, 5),
                      DataType.list(DataType.BOOL)))
              .flatMap(List::stream)
              .toList());
  private static final double[] NULL_PROBABILITIES = {0, 0.3, 1};

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 31, 32, 33, 1000})
  void everyTypeIsReadBack(int rowCount) throws IOException {
    for (double nullProbability : NULL_PROBABILITIES) {
      try (Table table = generate(nullProbability, rowCount)) {
        assertReadBack(table);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 31, 32, 33, 1000})
  void slicesAreReadBack(int rowCount) throws IOException {
    int after = random.random().nextInt(10);
    for (int before : new int[] {1, 7, 8, 64, 77}) {
      try (Table whole = generate(0.3, before + rowCount + after);
          Table table = whole.slice(before, rowCount)) {
        assertReadBack(table);
      }
    }
  }

  private Table generate(double nullProbability, int rowCount) {
    List<List<Object>> rows =
        new RandomTables(random.random(), nullProbability).rows(SCHEMA, rowCount);
    return TableBuilder.ofRows(SCHEMA, rows).buildOnHost(device);
  }

  private void assertReadBack(Table table) throws IOException {
    List<List<Object>> expected = TableRows.of(table, device);
    byte[] message = write(table);
    try (Table read = read(message, table.schema())) {
      assertThat(TableRows.of(read, device)).isEqualTo(expected);
      assertThat(read.schema()).isEqualTo(table.schema());
      for (int i = 0; i < table.columnCount(); i++) {
        Column column = read.column(i);
        assertThat(column.isNullCountKnown()).isTrue();
        assertThat(column.nullCount(device.hostStream()))
            .isEqualTo(table.column(i).nullCount(device.hostStream()));
      }
    }
    assertThat(readByArrow(message, table.schema())).isEqualTo(expected);
  }

  @Test
  void aSliceCostsOnlyItsRows() throws IOException {
    Schema schema = Schema.of(Field.of("id", DataType.INT64), Field.of("name", DataType.STRING));
    try (Table whole =
            TableBuilder.ofRows(schema, new RandomTables(random.random(), 0).rows(schema, 10_000))
                .buildOnHost(device);
        Table slice = whole.slice(5_003, 10)) {
      assertThat(write(slice).length).isLessThan(1_500);
    }
  }

  @Test
  void tablesWithoutColumnsKeepTheirRowCount() throws IOException {
    try (Table table = new Table(Schema.of(), List.of(), 42);
        Table read = read(write(table), table.schema())) {
      assertThat(read.rowCount()).isEqualTo(42);
    }
  }

  @Test
  void dictionariesAreRefused() {
    try (Table table =
        new TableBuilder()
            .column("word", DataType.dictionary(DataType.STRING), "a", "b", "a")
            .buildOnHost(device)) {
      assertThatThrownBy(() -> write(table))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("column 'word' is DICTIONARY<STRING>: decode it before it is sent");
    }
  }

  @Test
  void theTableSharesTheMessagesMemory() throws IOException {
    try (Table table =
        new TableBuilder().column("id", DataType.INT64, 1, 2, 3).buildOnHost(device)) {
      byte[] bytes = write(table);
      try (Buffer message = load(bytes)) {
        long held = device.hostMemory().heldBytes();
        Table read =
            new ArrowRecordBatchReader(table.schema())
                .read(message, device.hostStream(), device.hostMemory());
        assertThat(device.hostMemory().heldBytes()).isEqualTo(held);
        assertThat(read.column(0).data().orElseThrow().liveSlices()).isEqualTo(2);
        read.close();
      }
    }
  }

  @Test
  void everyCutIsRefused() throws IOException {
    try (Table table = generate(0.3, 20)) {
      byte[] bytes = write(table);
      Random cuts = random.random();
      for (int size = 0; size < bytes.length; size += 1 + cuts.nextInt(50)) {
        byte[] cut = Arrays.copyOf(bytes, size);
        assertThatThrownBy(() -> read(cut, SCHEMA).close())
            .isInstanceOf(ArrowFormatException.class);
      }
    }
  }

  @Test
  void corruptMessagesAreRefusedOrReadable() throws IOException {
    int refused = 0;
    try (Table table = generate(0.3, 20)) {
      byte[] bytes = write(table);
      Random faults = random.random();
      for (int i = 0; i < 1_000; i++) {
        byte[] corrupt = bytes.clone();
        for (int flips = faults.nextInt(4); flips >= 0; flips--) {
          int at = faults.nextInt(i % 2 == 0 ? 4_000 : bytes.length);
          corrupt[at] = (byte) faults.nextInt(256);
        }
        try {
          SuspectTables.readStart(read(corrupt, SCHEMA), device);
        } catch (ArrowFormatException e) {
          assertThat(e.getMessage()).isNotEmpty();
          refused++;
        }
      }
    }
    assertThat(refused).isGreaterThan(100);
  }

  @Test
  void messagesOfAnotherSchemaAreRefused() throws IOException {
    try (Table table =
        new TableBuilder().column("id", DataType.INT32, 1, 2, 3).buildOnHost(device)) {
      byte[] bytes = write(table);
      assertRefused(bytes, DataType.INT64, "column 'id' (Int(64, true)) has a buffer of 12 bytes");
      assertRefused(bytes, DataType.STRING, "column 'id' (Utf8) has a buffer of 12 bytes");
      assertThatThrownBy(() -> read(bytes, Schema.of()).close())
          .isInstanceOf(ArrowFormatException.class)
          .hasMessageContaining("more arrays than the schema");
    }
  }

  private void assertRefused(byte[] bytes, DataType type, String message) {
    assertThatThrownBy(() -> read(bytes, Schema.of(Field.of("id", type))).close())
        .isInstanceOf(ArrowFormatException.class)
        .hasMessageContaining(message);
  }

  private byte[] write(Table table) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ArrowRecordBatchWriter writer =
        new ArrowRecordBatchWriter(table, device.hostStream(), device.hostMemory())) {
      writer.write(
          (address, length) -> {
            byte[] run = new byte[Math.toIntExact(length)];
            HostMemory.copyToArray(run, 0, address, run.length);
            bytes.write(run);
          });
      assertThat(writer.encodedSize()).isEqualTo(bytes.size());
    }
    return bytes.toByteArray();
  }

  private Buffer load(byte[] bytes) {
    Buffer buffer = Buffer.allocate(bytes.length, device.hostStream(), device.hostMemory());
    try (AccessScope scope = AccessScope.on(device.hostStream())) {
      HostMemory.copyFromArray(buffer.access(AccessMode.WRITE, scope), bytes, 0, bytes.length);
    }
    return buffer;
  }

  private Table read(byte[] bytes, Schema schema) throws ArrowFormatException {
    try (Buffer message = load(bytes);
        AccessScope scope = AccessScope.on(device.hostStream())) {
      return new ArrowRecordBatchReader(schema)
          .read(
              message.access(AccessMode.READ, scope),
              message.size(),
              device.hostStream(),
              device.hostMemory());
    }
  }

  private static List<List<Object>> readByArrow(byte[] message, Schema schema) throws IOException {
    try (BufferAllocator allocator = new RootAllocator();
        ReadChannel channel =
            new ReadChannel(Channels.newChannel(new ByteArrayInputStream(message)));
        ArrowRecordBatch batch = MessageSerializer.deserializeRecordBatch(channel, allocator);
        VectorSchemaRoot root =
            VectorSchemaRoot.create(ArrowSchemaConverter.toArrow(schema), allocator)) {
      new VectorLoader(root).load(batch);
      return VectorRows.of(root, schema, null);
    }
  }
}
