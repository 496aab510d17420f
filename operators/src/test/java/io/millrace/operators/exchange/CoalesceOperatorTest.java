// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.InjectedFailures;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.operators.transfer.WatermarkMode;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.common.watermark.LongWatermark;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class CoalesceOperatorTest {
  private static final Schema SCHEMA = Schema.of(new Field("id", DataType.INT64, false));
  private static final CoalesceOptions OPTIONS =
      CoalesceOptions.DEFAULT.withRows(10).withBytes(1 << 20).withDelay(Duration.ofMillis(50));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness;
  private RecordingOutput output;
  private long heldBytesAtLast;

  private record Rows(List<List<Object>> rows, Long timestamp) {}

  private Rows read(StreamRecord<ColumnBatch> element) {
    heldBytesAtLast = DeviceContext.heldBytes(Device.current());
    return new Rows(
        device.rows(element.getValue().table()),
        element.hasTimestamp() ? element.getTimestamp() : null);
  }

  @BeforeEach
  void open() throws Exception {
    open(OPTIONS);
  }

  private void open(CoalesceOptions options) throws Exception {
    harness =
        new OneInputStreamOperatorTestHarness<>(
            CoalesceOperator.factory(options), new ColumnBatchSerializer(SCHEMA, BodyCodec.RAW));
    output = new RecordingOutput(this::read);
    harness.setOutputCreator(serializer -> output);
    harness.setup(new ColumnBatchSerializer(SCHEMA, BodyCodec.RAW));
    harness.open();
    harness.setProcessingTime(1_000);
  }

  @AfterEach
  void close() throws Exception {
    harness.close();
  }

  private void process(long id, int rows, Long timestamp) throws Exception {
    ColumnBatch batch =
        new ColumnBatch(
            TableBuilder.ofRows(SCHEMA, Collections.nCopies(rows, List.of(id)))
                .buildOnHost(device));
    harness.processElement(
        timestamp == null ? new StreamRecord<>(batch) : new StreamRecord<>(batch, timestamp));
    batch.release();
  }

  private static Rows rows(Long timestamp, Object... ids) {
    return new Rows(Arrays.stream(ids).map(List::of).toList(), timestamp);
  }

  @OutOfMemoryTest
  void rowsReachTheLimit() throws Exception {
    process(1, 4, null);
    process(2, 5, null);
    assertThat(output.elements()).isEmpty();
    process(3, 1, null);
    process(4, 10, null);
    assertThat(output.elements())
        .containsExactly(
            rows(null, 1L, 1L, 1L, 1L, 2L, 2L, 2L, 2L, 2L, 3L),
            rows(null, Collections.nCopies(10, 4L).toArray()));
  }

  @OutOfMemoryTest
  void rowsThatKeepTheirEventTimesAreNotJoinedWithOthers() throws Exception {
    process(1, 2, 5L);
    process(2, 1, null);
    ColumnBatch timed =
        new ColumnBatch(
            TableBuilder.ofRows(EventTimeColumn.addTo(SCHEMA), List.of(List.of(3L, 30L)))
                .buildOnHost(device));
    harness.processElement(new StreamRecord<>(timed, 30));
    timed.release();
    process(4, 1, 7L);
    harness.endInput();
    assertThat(output.elements())
        .containsExactly(rows(5L, 1L, 1L, 2L), rows(30L, 3L), rows(7L, 4L));
  }

  @Test
  void joinedRowsCountForTheJob() throws Exception {
    process(1, 5, null);
    process(2, 5, null);
    assertThat(output.elements()).hasSize(1);
    assertThat(heldBytesAtLast).isGreaterThanOrEqualTo(10 * Long.BYTES);
  }

  @OutOfMemoryTest
  void bytesReachTheLimit() throws Exception {
    harness.close();
    open(OPTIONS.withBytes(40));
    process(1, 4, null);
    assertThat(output.elements()).isEmpty();
    process(2, 1, null);
    assertThat(output.elements()).containsExactly(rows(null, 1L, 1L, 1L, 1L, 2L));
  }

  @OutOfMemoryTest
  void theDelayCountsFromTheFirstRow() throws Exception {
    process(1, 1, null);
    harness.setProcessingTime(1_040);
    process(2, 1, null);
    harness.setProcessingTime(1_049);
    assertThat(output.elements()).isEmpty();
    harness.setProcessingTime(1_050);
    assertThat(output.elements()).containsExactly(rows(null, 1L, 2L));
  }

  @Test
  void aTimerThatIsTooEarlyForTheNextBatchIsSetAgain() throws Exception {
    process(1, 10, null);
    harness.setProcessingTime(1_030);
    process(2, 1, null);
    harness.setProcessingTime(1_050);
    assertThat(output.elements()).hasSize(1);
    harness.setProcessingTime(1_079);
    assertThat(output.elements()).hasSize(1);
    harness.setProcessingTime(1_080);
    assertThat(output.elements()).last().isEqualTo(rows(null, 2L));
    harness.setProcessingTime(2_000);
    assertThat(output.elements()).hasSize(2);
  }

  @OutOfMemoryTest
  void watermarksWaitForTheRowsBeforeThem() throws Exception {
    harness.close();
    open(OPTIONS.withWatermarks(WatermarkMode.HOLD));
    harness.processWatermark(new Watermark(1));
    process(1, 4, null);
    harness.processWatermark(new Watermark(2));
    harness.processWatermark(new Watermark(3));
    assertThat(output.elements()).containsExactly(new Watermark(1));
    process(2, 6, null);
    process(3, 1, null);
    harness.processWatermark(new Watermark(4));
    // Ten times the delay, which is how long rows wait at most if sending takes long here.
    harness.setProcessingTime(1_500);
    process(4, 1, null);
    harness.processWatermark(new Watermark(5));
    harness.processWatermarkStatus(WatermarkStatus.IDLE);
    process(5, 1, null);
    harness.processWatermark(new Watermark(6));
    harness.prepareSnapshotPreBarrier(1);
    process(6, 1, null);
    harness.processWatermark(new Watermark(7));
    harness.processWatermark(Watermark.MAX_WATERMARK);
    assertThat(output.elements())
        .containsExactly(
            new Watermark(1),
            rows(null, 1L, 1L, 1L, 1L, 2L, 2L, 2L, 2L, 2L, 2L),
            new Watermark(3),
            rows(null, 3L),
            new Watermark(4),
            rows(null, 4L),
            new Watermark(5),
            WatermarkStatus.IDLE,
            rows(null, 5L),
            new Watermark(6),
            rows(null, 6L),
            Watermark.MAX_WATERMARK);
  }

  @OutOfMemoryTest
  void nothingOvertakesARow() throws Exception {
    WatermarkEvent generalized = new WatermarkEvent(new LongWatermark(8, "id"), false);
    process(1, 1, 5L);
    process(2, 1, 9L);
    process(3, 1, 7L);
    harness.processWatermark(new Watermark(8));
    process(4, 1, 3L);
    harness.processWatermarkStatus(WatermarkStatus.IDLE);
    process(5, 1, null);
    harness.prepareSnapshotPreBarrier(1);
    process(6, 1, null);
    harness.processRecordAttributes(new RecordAttributes(true));
    process(7, 1, null);
    harness.getOneInputOperator().processWatermark(generalized);
    process(8, 1, null);
    harness.endInput();
    assertThat(output.elements())
        .containsExactly(
            rows(9L, 1L, 2L, 3L),
            new Watermark(8),
            rows(3L, 4L),
            WatermarkStatus.IDLE,
            rows(null, 5L),
            rows(null, 6L),
            new RecordAttributes(true),
            rows(null, 7L),
            generalized,
            rows(null, 8L));
  }

  // The third attempt is the last; then the rows are joined in parts.
  @OutOfMemoryTest(attempts = 3)
  void noRowIsLostIfABatchDoesNotFit() throws Exception {
    process(1, 4, 5L);
    process(2, 5, 5L);
    process(3, 1, 5L);
    assertThat(output.elements().stream().flatMap(rows -> ((Rows) rows).rows().stream()))
        .containsExactlyElementsOf(rows(5L, 1L, 1L, 1L, 1L, 2L, 2L, 2L, 2L, 2L, 3L).rows());
  }

  @Test
  void rowsThatAreNotFlushedAreDroppedAtClose() throws Exception {
    process(1, 3, null);
    process(2, 3, null);
    harness.close();
    assertThat(output.elements()).isEmpty();
    device.assertNothingHeld();
  }

  @Test
  void theDeviceIsGivenUpWhereWhatIsDroppedCannotBeFreed() throws Exception {
    ColumnBatch batch =
        new ColumnBatch(
            TableBuilder.ofRows(SCHEMA, List.of(List.of(1L)))
                .buildOnHost(device.hostStream(), failingToFree(device.hostMemory())));
    harness.processElement(new StreamRecord<>(batch));
    batch.release();
    assertThatThrownBy(harness::close).hasMessage("cannot be freed");
    assertThatCode(() -> new InjectedFailures((number, bytes) -> false).close())
        .as("no context is open")
        .doesNotThrowAnyException();
  }

  private static MemoryResource failingToFree(MemoryResource upstream) {
    return new MemoryResource() {
      @Override
      public Device device() {
        return upstream.device();
      }

      @Override
      public long allocate(long bytes, DeviceStream stream) {
        return upstream.allocate(bytes, stream);
      }

      @Override
      public void free(long address, long bytes, DeviceStream stream) {
        upstream.free(address, bytes, stream);
        throw new IllegalStateException("cannot be freed");
      }
    };
  }

  @Test
  void aClockThatIsSetBackDelaysNothing() throws Exception {
    process(1, 1, null);
    harness.getProcessingTimeService().setCurrentTime(500);
    process(2, 10, null);
    assertThat(output.elements()).hasSize(1);
    process(3, 1, null);
    harness.setProcessingTime(1_049);
    assertThat(output.elements()).hasSize(1);
    harness.setProcessingTime(1_050);
    assertThat(output.elements()).hasSize(2);
  }

  @Test
  void aClosedOperatorLeavesNoTimer() throws Exception {
    process(1, 1, null);
    assertThat(harness.getProcessingTimeService().getNumActiveTimers()).isEqualTo(1);
    harness.close();
    assertThat(harness.getProcessingTimeService().getNumActiveTimers()).isZero();
  }

  @Test
  void limitsAreChecked() {
    assertThatThrownBy(() -> OPTIONS.withRows(0))
        .hasMessage("expected rows from 1 to 1073741824, got 0");
    assertThatThrownBy(() -> OPTIONS.withRows(Integer.MAX_VALUE))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> OPTIONS.withBytes(0))
        .hasMessage("expected bytes from 1 to 1073741824, got 0");
    assertThatThrownBy(() -> OPTIONS.withBytes(2L << 30))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> OPTIONS.withDelay(Duration.ZERO))
        .hasMessage("expected a delay from 1 ms to one day, got PT0S");
    assertThatThrownBy(() -> OPTIONS.withDelay(Duration.ofDays(2)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
