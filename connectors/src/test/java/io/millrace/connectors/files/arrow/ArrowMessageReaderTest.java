// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.arrow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.files.message.MessageRows;
import io.millrace.connectors.formats.ArrowStreamEncoder;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.SendPace;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.connector.file.src.util.RecordAndPosition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Messages and their positions; files that are cut short anywhere are refused, never misread. */
class ArrowMessageReaderTest {
  private static final int BATCHES = 3;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @TempDir Path folder;

  private Schema schema;
  private byte[] file;

  @BeforeEach
  void encodeFile() throws IOException {
    encode(
        new TableBuilder()
            .column("id", DataType.INT64, 1L, null)
            .column("name", DataType.STRING, "x", "y"));
  }

  private void encode(TableBuilder batch) throws IOException {
    ArrowStreamEncoder encoder = new ArrowStreamEncoder();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (Table table = batch.buildOnHost(device);
        AccessScope scope = AccessScope.on(device.hostStream())) {
      schema = table.schema();
      out.write(encoder.fileStart(schema));
      for (int i = 0; i < BATCHES; i++) {
        out.write(encoder.encode(table, scope));
      }
      out.write(encoder.fileEnd());
    }
    file = out.toByteArray();
  }

  private BulkFormat.Reader<MessageRows> reader(byte[] bytes, CheckpointedPosition position)
      throws IOException {
    return new ArrowFileFormat(schema).restoreReader(new Configuration(), split(bytes, position));
  }

  private FileSourceSplit split(byte[] bytes, CheckpointedPosition position) throws IOException {
    Path path = Files.write(folder.resolve("file"), bytes);
    return new FileSourceSplit(
        "split",
        new org.apache.flink.core.fs.Path(path.toUri()),
        0,
        bytes.length,
        0,
        bytes.length,
        new String[0],
        position);
  }

  private List<Long> nextOffsets(byte[] bytes, CheckpointedPosition position) throws IOException {
    List<Long> offsets = new ArrayList<>();
    try (BulkFormat.Reader<MessageRows> reader = reader(bytes, position)) {
      for (BulkFormat.RecordIterator<MessageRows> batch = reader.readBatch();
          batch != null;
          batch = reader.readBatch()) {
        RecordAndPosition<MessageRows> message = batch.next();
        offsets.add(message.getOffset());
        assertThat(batch.next()).isNull();
      }
    }
    return offsets;
  }

  @Test
  void readersOfASubtaskEndTogether() throws IOException {
    Configuration configuration = new Configuration();
    ArrowFileFormat format = new ArrowFileFormat(schema);
    try (BulkFormat.Reader<MessageRows> reader =
        format.createReader(configuration, split(file, null))) {
      reader.readBatch().next().getRecord().limit().end();
      assertThat(reader.readBatch()).isNull();
    }
    try (BulkFormat.Reader<MessageRows> reader =
        format.createReader(configuration, split(new byte[] {1}, null))) {
      assertThat(reader.readBatch()).isNull();
    }
  }

  @Test
  void aRestoredReaderResumesWithTheNextMessage() throws IOException {
    List<Long> offsets = nextOffsets(file, null);
    assertThat(offsets).hasSize(BATCHES);
    for (int i = 0; i < BATCHES; i++) {
      assertThat(nextOffsets(file, new CheckpointedPosition(offsets.get(i), 0)))
          .isEqualTo(offsets.subList(i + 1, BATCHES));
    }
  }

  private static MessageRows assertPart(
      RecordAndPosition<MessageRows> part, int firstRow, int rows, long offset, long skip) {
    assertThat(part.getRecord().firstRow()).isEqualTo(firstRow);
    assertThat(part.getRecord().rows()).isEqualTo(rows);
    assertThat(part.getOffset()).isEqualTo(offset);
    assertThat(part.getRecordSkipCount()).isEqualTo(skip);
    return part.getRecord();
  }

  @Test
  void partsHaveAsManyRowsAsTheOperatorBehindAsksFor() throws IOException {
    encode(
        new TableBuilder()
            .column("id", DataType.INT64, LongStream.range(0, 1_000).boxed().toArray()));
    long start = new ArrowStreamEncoder().fileStart(schema).length;
    CheckpointedPosition within;
    long end;
    try (BulkFormat.Reader<MessageRows> reader = reader(file, null)) {
      BulkFormat.RecordIterator<MessageRows> first = reader.readBatch();
      MessageRows part = assertPart(first.next(), 0, SendPace.FIRST_ROWS, start, 128);
      part.limit().set(300);
      RecordAndPosition<MessageRows> second = first.next();
      assertPart(second, 128, 300, start, 428);
      within = new CheckpointedPosition(second.getOffset(), second.getRecordSkipCount());
      // Who does not answer gets the rest.
      RecordAndPosition<MessageRows> rest = first.next();
      end = rest.getOffset();
      assertPart(rest, 428, 572, end, 0).limit().set(5_000);
      assertThat(first.next()).isNull();
      BulkFormat.RecordIterator<MessageRows> batch = reader.readBatch();
      RecordAndPosition<MessageRows> whole = batch.next();
      assertPart(whole, 0, 1_000, 2 * end - start, 0);
      assertThat(batch.next()).isNull();
    }
    try (BulkFormat.Reader<MessageRows> restored = reader(file, within)) {
      BulkFormat.RecordIterator<MessageRows> first = restored.readBatch();
      assertPart(first.next(), 428, SendPace.FIRST_ROWS, start, 556);
      assertPart(first.next(), 556, 444, end, 0);
      assertThat(restored.readBatch().next().getRecord().firstRow()).isZero();
    }
    try (BulkFormat.Reader<MessageRows> other =
        reader(file, new CheckpointedPosition(start, 1_001))) {
      assertThatThrownBy(other::readBatch)
          .isInstanceOf(ArrowFormatException.class)
          .hasMessageContaining("1000 rows, of which 1001 were read before");
    }
  }

  @Test
  void filesCutShortAreRefusedUnlessAtTheEndOfAMessage() throws IOException {
    List<Long> offsets = nextOffsets(file, null);
    for (int length = 0; length < file.length; length++) {
      byte[] cut = Arrays.copyOf(file, length);
      boolean atMessageEnd =
          offsets.contains((long) length)
              || length == new ArrowStreamEncoder().fileStart(schema).length;
      if (atMessageEnd) {
        assertThat(nextOffsets(cut, null)).hasSizeLessThanOrEqualTo(BATCHES);
      } else {
        assertThatThrownBy(() -> nextOffsets(cut, null)).isInstanceOf(ArrowFormatException.class);
      }
    }
  }

  @Test
  void aFileOtherThanAnArrowStreamIsRefused() {
    assertThatThrownBy(() -> nextOffsets(new byte[100], null))
        .isInstanceOf(ArrowFormatException.class)
        .hasMessageContaining("file:0: there is no Arrow IPC message");
  }
}
