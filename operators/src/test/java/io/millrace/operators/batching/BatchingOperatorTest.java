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
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.operators.transfer.WatermarkMode;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class BatchingOperatorTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("name", DataType.STRING));
  private static final BatchOptions MANUAL = BatchOptions.DEFAULT.withRows(1000, 1000);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private RecordingOutput collector = new RecordingOutput(this::read);
  private OneInputStreamOperatorTestHarness<RowData, ColumnBatch> harness;

  private record Batch(List<Object> ids, OptionalLong timestamp) {
    static Batch of(Object... ids) {
      return new Batch(List.of(ids), OptionalLong.empty());
    }
  }

  private Batch read(StreamRecord<ColumnBatch> element) {
    List<Object> ids =
        device.rows(element.getValue().table()).stream().map(row -> row.get(0)).toList();
    OptionalLong timestamp =
        element.hasTimestamp() ? OptionalLong.of(element.getTimestamp()) : OptionalLong.empty();
    return new Batch(ids, timestamp);
  }

  private void open(BatchOptions options) throws Exception {
    open(BatchingOperator.factory(SCHEMA, RowDataAppender::new, options));
  }

  private void open(OperatorFactory<RowData, ColumnBatch> factory) throws Exception {
    harness = new OneInputStreamOperatorTestHarness<>(factory);
    harness.setOutputCreator(serializer -> collector);
    harness.open();
  }

  @AfterEach
  void close() throws Exception {
    harness.close();
  }

  private void send(long... ids) throws Exception {
    for (long id : ids) {
      harness.processElement(new StreamRecord<>(row(id)));
    }
  }

  private static RowData row(long id) {
    return GenericRowData.of(id, StringData.fromString("name of " + id));
  }

  @OutOfMemoryTest
  void theNumberOfRowsClosesABatch() throws Exception {
    open(MANUAL.withRows(3, 3));
    send(1, 2, 3, 4, 5, 6, 7);
    assertThat(collector.elements()).containsExactly(Batch.of(1L, 2L, 3L), Batch.of(4L, 5L, 6L));
  }

  @OutOfMemoryTest
  void theRowThatReachesTheBytesIsTheLast() throws Exception {
    open(MANUAL.withMaxBytes(100));
    send(1, 2, 3, 4, 5, 6, 7, 8);
    harness.endInput();
    assertThat(collector.elements())
        .containsExactly(Batch.of(1L, 2L, 3L, 4L, 5L), Batch.of(6L, 7L, 8L));
  }

  @OutOfMemoryTest
  void theDeadlineIsThatOfTheOldestRow() throws Exception {
    open(MANUAL.withLatency(Duration.ofMillis(20)));
    harness.setProcessingTime(1_000);
    send(1);
    harness.setProcessingTime(1_015);
    send(2);
    harness.setProcessingTime(1_018);
    assertThat(collector.elements()).isEmpty();
    harness.setProcessingTime(1_019);
    assertThat(collector.elements()).containsExactly(Batch.of(1L, 2L));
    harness.setProcessingTime(2_000);
    assertThat(collector.elements()).hasSize(1);
  }

  @OutOfMemoryTest
  void aBatchThatAnotherCauseClosedLeavesTheNextItsFullTime() throws Exception {
    open(MANUAL.withLatency(Duration.ofMillis(20)));
    harness.setProcessingTime(0);
    send(1);
    harness.setProcessingTime(10);
    harness.prepareSnapshotPreBarrier(1);
    harness.setProcessingTime(11);
    send(2);
    harness.setProcessingTime(29);
    assertThat(collector.elements()).containsExactly(Batch.of(1L));
    harness.setProcessingTime(30);
    assertThat(collector.elements()).containsExactly(Batch.of(1L), Batch.of(2L));
  }

  @OutOfMemoryTest
  void aWatermarkLeavesBehindItsRows() throws Exception {
    open(MANUAL);
    send(1, 2);
    harness.processWatermark(100);
    harness.processWatermark(200);
    send(3);
    harness.processWatermark(300);
    assertThat(collector.elements())
        .containsExactly(
            Batch.of(1L, 2L),
            new Watermark(100),
            new Watermark(200),
            Batch.of(3L),
            new Watermark(300));
  }

  @OutOfMemoryTest
  void aHeldWatermarkLeavesBehindTheBatchThatOutgrewIt() throws Exception {
    open(MANUAL.withLatency(Duration.ofMillis(20)).withWatermarks(WatermarkMode.HOLD));
    harness.setProcessingTime(0);
    harness.processWatermark(50);
    send(1);
    harness.processWatermark(100);
    send(2);
    harness.processWatermark(200);
    send(3);
    assertThat(collector.elements()).containsExactly(new Watermark(50));
    harness.setProcessingTime(19);
    assertThat(collector.elements())
        .containsExactly(new Watermark(50), Batch.of(1L, 2L, 3L), new Watermark(200));
  }

  @OutOfMemoryTest
  void theLastWatermarkIsNeverHeld() throws Exception {
    open(MANUAL.withWatermarks(WatermarkMode.HOLD));
    send(1);
    harness.processWatermark(100);
    harness.processWatermark(Watermark.MAX_WATERMARK);
    assertThat(collector.elements()).containsExactly(Batch.of(1L), Watermark.MAX_WATERMARK);
  }

  @OutOfMemoryTest
  void aHeldWatermarkLeavesBeforeTheBarrierAndAtTheEndOfInput() throws Exception {
    open(MANUAL.withWatermarks(WatermarkMode.HOLD));
    send(1);
    harness.processWatermark(100);
    harness.prepareSnapshotPreBarrier(1);
    send(2);
    harness.processWatermark(200);
    harness.endInput();
    assertThat(collector.elements())
        .containsExactly(Batch.of(1L), new Watermark(100), Batch.of(2L), new Watermark(200));
  }

  @OutOfMemoryTest
  void statusLeavesBehindRowsAndHeldWatermark() throws Exception {
    open(MANUAL.withWatermarks(WatermarkMode.HOLD));
    send(1);
    harness.processWatermark(100);
    harness.processWatermarkStatus(WatermarkStatus.IDLE);
    send(2);
    harness.processWatermarkStatus(WatermarkStatus.ACTIVE);
    assertThat(collector.elements())
        .containsExactly(
            Batch.of(1L),
            new Watermark(100),
            WatermarkStatus.IDLE,
            Batch.of(2L),
            WatermarkStatus.ACTIVE);
  }

  @OutOfMemoryTest
  void latencyMarkersPass() throws Exception {
    open(MANUAL);
    LatencyMarker marker = new LatencyMarker(1, new OperatorID(), 0);
    send(1);
    harness.getOneInputOperator().processLatencyMarker(marker);
    harness.endInput();
    assertThat(collector.elements()).containsExactly(marker, Batch.of(1L));
  }

  @OutOfMemoryTest
  void aBatchHasTheGreatestTimestampOfItsRows() throws Exception {
    open(MANUAL);
    harness.processElement(row(1), 70);
    harness.processElement(row(2), 90);
    harness.processElement(row(3), 80);
    harness.prepareSnapshotPreBarrier(1);
    harness.processElement(row(4), -5);
    harness.endInput();
    assertThat(collector.elements())
        .containsExactly(
            new Batch(List.of(1L, 2L, 3L), OptionalLong.of(90)),
            new Batch(List.of(4L), OptionalLong.of(-5)));
  }

  private List<Object> readTimes(StreamRecord<ColumnBatch> element) {
    Table table = element.getValue().tableWithEventTimes();
    int last = table.columnCount() - 1;
    return device.rows(table).stream().map(row -> row.get(last)).toList();
  }

  @OutOfMemoryTest
  void rowsKeepTheirTimesWhereThoseAreNeeded() throws Exception {
    collector = new RecordingOutput(this::readTimes);
    OperatorFactory<RowData, ColumnBatch> factory =
        BatchingOperator.factory(SCHEMA, RowDataAppender::new, MANUAL.withRows(4, 4));
    ((BatchingOperator.Constructor<?>) factory.constructor()).keepEventTimes();
    open(factory);
    send(1);
    harness.processElement(row(2), 90);
    harness.processElement(row(3), -80);
    send(4);
    send(5, 6);
    harness.endInput();
    assertThat(collector.elements())
        .containsExactly(
            List.of(EventTimeColumn.NONE, 90L, -80L, EventTimeColumn.NONE),
            List.of("name of 5", "name of 6"));
  }

  @Test
  void anEmptyBatchIsNeverSent() throws Exception {
    open(MANUAL);
    harness.prepareSnapshotPreBarrier(1);
    harness.processWatermark(1);
    harness.processWatermarkStatus(WatermarkStatus.IDLE);
    harness.endInput();
    assertThat(collector.elements()).containsExactly(new Watermark(1), WatermarkStatus.IDLE);
  }

  @OutOfMemoryTest
  void aReusedRowIsCopied() throws Exception {
    open(MANUAL);
    GenericRowData reused = GenericRowData.of(1L, null);
    harness.processElement(new StreamRecord<>(reused));
    reused.setField(0, 2L);
    harness.processElement(new StreamRecord<>(reused));
    harness.endInput();
    assertThat(collector.elements()).containsExactly(Batch.of(1L, 2L));
  }

  @OutOfMemoryTest
  void aCancelledBatchIsFreed() throws Exception {
    open(MANUAL);
    send(1, 2, 3);
    harness.close();
    assertThat(collector.elements()).isEmpty();
  }

  @OutOfMemoryTest
  void aFailedRowLeavesNothingHeld() throws Exception {
    open(MANUAL);
    send(1);
    assertThatThrownBy(
            () -> harness.processElement(new StreamRecord<>(GenericRowData.of(null, null))))
        .hasMessageContaining("column 'id' is NOT NULL and the row has a null in it");
  }

  @OutOfMemoryTest
  void aFailingConsumerLeavesNothingHeld() throws Exception {
    collector =
        new RecordingOutput(
            batch -> {
              throw new IllegalStateException("the consumer failed");
            });
    open(MANUAL);
    send(1);
    assertThatThrownBy(() -> harness.endInput()).hasMessage("the consumer failed");
  }

  @Test
  void optionsOutOfRangeAreRefused() throws Exception {
    open(MANUAL);
    assertThatThrownBy(() -> MANUAL.withRows(2, 1)).hasMessageContaining("got rows from 2 to 1");
    assertThatThrownBy(() -> MANUAL.withRows(0, 1)).hasMessageContaining("got rows from 0 to 1");
    assertThatThrownBy(() -> MANUAL.withMaxBytes(0))
        .hasMessageContaining("maxBytes from 1 to 1073741824, got 0");
    assertThatThrownBy(() -> BatchOptions.latency(Duration.ZERO)).hasMessageContaining("PT0S");
  }
}
