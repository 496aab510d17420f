// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ArrowTypeException;
import io.millrace.arrow.ipc.EncodedStream;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.c.ArrowArrayStream;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Streams of the C interface, whose producer is Arrow's reader of its IPC streams. */
class ArrowCStreamTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final BufferAllocator allocator = new RootAllocator();

  // Closing the allocator fails if memory is still counted.
  @AfterEach
  void closeAllocator() {
    allocator.close();
  }

  private ArrowArrayStream open(byte[] encoded) {
    ArrowArrayStream stream = ArrowArrayStream.allocateNew(allocator);
    Data.exportArrayStream(
        allocator, new ArrowStreamReader(new ByteArrayInputStream(encoded), allocator), stream);
    return stream;
  }

  private Table fromArrowStream(ArrowArrayStream stream) throws IOException {
    return new ArrowCDeviceImporter(allocator, device.hostStream(), device.hostMemory())
        .fromArrowStream(stream, device.stream(), device.memory());
  }

  private void assertConcatenated(Schema schema, int... rowCounts) throws IOException {
    List<List<List<Object>>> batches = new ArrayList<>();
    List<List<Object>> expected = new ArrayList<>();
    for (int rowCount : rowCounts) {
      batches.add(new RandomTables(random.random(), 0.3).rows(schema, rowCount));
      expected.addAll(batches.get(batches.size() - 1));
    }
    try (ArrowArrayStream stream = open(EncodedStream.of(device, schema, batches));
        Table table = fromArrowStream(stream)) {
      assertThat(stream.snapshot().release).as("the stream is released").isZero();
      assertThat(allocator.getAllocatedMemory()).as("and its arrays").isLessThan(100);
      assertThat(table.schema()).isEqualTo(schema);
      assertThat(device.rows(table)).isEqualTo(expected);
    }
  }

  @Test
  void allArraysOfAStreamMakeOneTable() throws IOException {
    Schema schema = DataTypes.schema(DataTypes.all());
    assertConcatenated(schema, 100);
    assertConcatenated(schema, 1, 0, 33, 200);
  }

  @Test
  void aStreamWithoutArraysMakesAnEmptyTable() throws IOException {
    assertConcatenated(DataTypes.schema(DataTypes.flat()));
  }

  @Test
  void aStreamIsReleasedWhenItsProducerFails() throws IOException {
    Schema schema = DataTypes.schema(List.of(DataType.INT64));
    List<List<Object>> rows = new RandomTables(random.random(), 0).rows(schema, 100);
    byte[] encoded = EncodedStream.of(device, schema, List.of(rows, rows));
    byte[] cut = Arrays.copyOf(encoded, encoded.length - 500);
    try (ArrowArrayStream stream = open(cut)) {
      assertThatThrownBy(() -> fromArrowStream(stream)).isInstanceOf(IOException.class);
      assertThat(stream.snapshot().release).isZero();
    }
  }

  @Test
  void aStreamIsReleasedWhenItsTypeIsNotSupported() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (NullVector nulls = new NullVector("nothing", 3);
        ArrowStreamWriter writer =
            new ArrowStreamWriter(VectorSchemaRoot.of(nulls), null, Channels.newChannel(bytes))) {
      writer.start();
      writer.writeBatch();
    }
    try (ArrowArrayStream stream = open(bytes.toByteArray())) {
      assertThatThrownBy(() -> fromArrowStream(stream))
          .isInstanceOf(ArrowTypeException.class)
          .hasMessageContaining("column 'table.nothing' is of the Arrow type Null");
      assertThat(stream.snapshot().release).isZero();
    }
  }

  @Test
  void nullAndReleasedStreamsAreRefused() throws IOException {
    assertThatThrownBy(() -> fromArrowStream(null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the stream is null");
    assertThatThrownBy(() -> fromArrowStream(ArrowArrayStream.wrap(0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the stream is null");
    try (ArrowArrayStream stream = ArrowArrayStream.allocateNew(allocator)) {
      assertThatThrownBy(() -> fromArrowStream(stream))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the stream is released");
    }
  }
}
