// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A batch of many rows is on its way while its task is canceled. */
@ExtendWith(NothingHeldExtension.class)
class CanceledTaskTest {
  private static final Schema SCHEMA = Schema.of(new Field("id", DataType.INT64, false));
  private static final int ROWS = 5_000;
  private static final int CANCELED_AT = 700;
  private static final int ROWS_AFTER_CANCEL = 256;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private OneInputStreamOperatorTestHarness<ColumnBatch, Long> harness;

  @AfterEach
  void close() throws Exception {
    harness.close();
  }

  private ColumnBatch batch() {
    List<List<Object>> rows =
        LongStream.range(0, ROWS).mapToObj(id -> List.<Object>of(id)).toList();
    return new ColumnBatch(TableBuilder.ofRows(SCHEMA, rows).build(device));
  }

  private void cancel() {
    OneInputStreamOperator<ColumnBatch, Long> operator = harness.getOneInputOperator();
    try {
      ((AbstractStreamOperator<?>) operator).getContainingTask().cancel();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private long decode(ColumnReader ids, int row) {
    if (row == CANCELED_AT) {
      cancel();
    }
    return ids.getLong(row);
  }

  private void send() throws Exception {
    RowDecoder.Factory<Long> decoders =
        schema ->
            (table, scope) -> {
              ColumnReader ids = new ColumnReader(table.column(0), scope);
              return row -> decode(ids, row);
            };
    harness =
        new OneInputStreamOperatorTestHarness<>(
            UnbatchingOperator.factory(SCHEMA, decoders, Optional.empty()));
    harness.setup(LongSerializer.INSTANCE);
    harness.open();
    ColumnBatch batch = batch();
    try {
      harness.processElement(new StreamRecord<>(batch));
      harness.prepareSnapshotPreBarrier(1);
    } finally {
      batch.release();
    }
  }

  @Test
  void noFurtherRowsOfTheBatchLeave() {
    assertThatThrownBy(this::send).isInstanceOf(CancelTaskException.class);
    assertThat(harness.getOutput()).hasSizeBetween(CANCELED_AT, CANCELED_AT + ROWS_AFTER_CANCEL);
  }
}
