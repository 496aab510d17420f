// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class UnbatchingOperatorTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("id", DataType.INT64),
          Field.of("name", DataType.STRING),
          Field.of("millis", DataType.timestamp(3)),
          Field.of("micros", DataType.timestamp(6)),
          Field.of("nanos", DataType.timestamp(9)));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private OneInputStreamOperatorTestHarness<ColumnBatch, RowData> harness;

  private void open(Optional<String> timeColumn) throws Exception {
    harness =
        new OneInputStreamOperatorTestHarness<>(
            UnbatchingOperator.factory(SCHEMA, RowDataDecoder.factory(), timeColumn));
    harness.setup(new RowDataSerializer(SchemaConverter.toRowType(SCHEMA)));
    harness.open();
  }

  @AfterEach
  void close() throws Exception {
    harness.close();
  }

  // The harness's operator is not the head of a chain: the sender releases.
  private void send(StreamRecord<ColumnBatch> element) throws Exception {
    try {
      harness.processElement(element);
    } finally {
      element.getValue().release();
    }
  }

  private void sendAndWait() throws Exception {
    send(new StreamRecord<>(batch()));
    harness.prepareSnapshotPreBarrier(1);
  }

  private ColumnBatch batch() {
    LocalDateTime before1970 = LocalDateTime.parse("1969-12-31T23:59:59.999900");
    Table table =
        TableBuilder.ofRows(
                SCHEMA,
                List.of(
                    List.of(1, "one", before1970, before1970, before1970),
                    row(2, "two"),
                    row(3, null)))
            .build(device);
    return new ColumnBatch(table);
  }

  private static List<Object> row(Object... start) {
    List<Object> row = new ArrayList<>(Arrays.asList(start));
    while (row.size() < SCHEMA.size()) {
      row.add(null);
    }
    return row;
  }

  // On a GPU batches may still be on their way to the host; before a barrier none is.
  private List<Object> idsAndTimestamps() throws Exception {
    harness.prepareSnapshotPreBarrier(1);
    List<Object> seen = new ArrayList<>();
    for (Object element : harness.getOutput()) {
      if (element instanceof StreamRecord<?> record) {
        seen.add(((RowData) record.getValue()).getLong(0));
        seen.add(record.hasTimestamp() ? record.getTimestamp() : "no time");
      } else {
        seen.add(element);
      }
    }
    return seen;
  }

  @OutOfMemoryTest(onGpuOnly = true)
  void rowsLeaveInOrderBeforeTheNextWatermark() throws Exception {
    open(Optional.empty());
    send(new StreamRecord<>(batch(), 77));
    harness.processWatermark(100);
    assertThat(idsAndTimestamps()).containsExactly(1L, 77L, 2L, 77L, 3L, 77L, new Watermark(100));
  }

  @OutOfMemoryTest(onGpuOnly = true)
  void rowsLeaveInTimeWithoutFurtherInput() throws Exception {
    open(Optional.empty());
    harness.setProcessingTime(100);
    send(new StreamRecord<>(batch(), 77));
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(240);
    for (long now = 101; harness.getOutput().isEmpty() && System.nanoTime() < deadline; now++) {
      harness.setProcessingTime(now);
    }
    assertThat(harness.getOutput()).hasSize(3);
  }

  @OutOfMemoryTest(onGpuOnly = true)
  void recordAttributesWaitForRows() throws Exception {
    open(Optional.empty());
    send(new StreamRecord<>(batch(), 77));
    harness.processRecordAttributes(RecordAttributes.EMPTY_RECORD_ATTRIBUTES);
    assertThat(harness.getOutput()).hasSize(4);
  }

  @OutOfMemoryTest(onGpuOnly = true)
  void theEndOfInputWaitsForRows() throws Exception {
    open(Optional.empty());
    send(new StreamRecord<>(batch(), 77));
    harness.processWatermarkStatus(WatermarkStatus.IDLE);
    harness.endInput();
    assertThat(harness.getOutput()).hasSize(4).last().isEqualTo(WatermarkStatus.IDLE);
  }

  @OutOfMemoryTest(onGpuOnly = true)
  void withoutAnyTimeRowsHaveNone() throws Exception {
    open(Optional.empty());
    send(new StreamRecord<>(batch()));
    assertThat(idsAndTimestamps()).containsExactly(1L, "no time", 2L, "no time", 3L, "no time");
  }

  @OutOfMemoryTest(onGpuOnly = true)
  void theTimeColumnGivesTimestampsAndTheBatchWhereItIsNull() throws Exception {
    for (String column : List.of("millis", "micros", "nanos")) {
      open(Optional.of(column));
      send(new StreamRecord<>(batch(), 77));
      assertThat(idsAndTimestamps()).as(column).containsExactly(1L, -1L, 2L, 77L, 3L, 77L);
      harness.close();
    }
  }

  private ColumnBatch batchWithEventTimes() {
    Schema schema = EventTimeColumn.addTo(SCHEMA);
    List<List<Object>> rows = new ArrayList<>();
    for (Object time : List.of(-5L, EventTimeColumn.NONE, 90L)) {
      List<Object> row = row(rows.size() + 1, "name");
      row.add(time);
      rows.add(row);
    }
    return new ColumnBatch(TableBuilder.ofRows(schema, rows).build(device));
  }

  @OutOfMemoryTest(onGpuOnly = true)
  void rowsThatKeepTheirTimesLeaveWithThem() throws Exception {
    open(Optional.empty());
    send(new StreamRecord<>(batchWithEventTimes(), 77));
    send(new StreamRecord<>(batch(), 77));
    assertThat(idsAndTimestamps())
        .containsExactly(1L, -5L, 2L, "no time", 3L, 90L, 1L, 77L, 2L, 77L, 3L, 77L);
  }

  @OutOfMemoryTest(onGpuOnly = true)
  void theTimeColumnCountsMoreThanTheTimesThatRowsKeep() throws Exception {
    open(Optional.of("millis"));
    send(new StreamRecord<>(batchWithEventTimes(), 77));
    assertThat(idsAndTimestamps()).containsExactly(1L, 77L, 2L, 77L, 3L, 77L);
  }

  @OutOfMemoryTest(onGpuOnly = true)
  void aColumnWithoutTimeIsRefusedAndNothingIsHeld() throws Exception {
    open(Optional.of("name"));
    assertThatThrownBy(this::sendAndWait).hasMessageContaining("time column 'name', got STRING");
  }

  @OutOfMemoryTest(onGpuOnly = true)
  void aMissingTimeColumnIsRefusedAndNothingIsHeld() throws Exception {
    open(Optional.of("missing"));
    assertThatThrownBy(this::sendAndWait).hasMessageContaining("no column 'missing'");
  }
}
