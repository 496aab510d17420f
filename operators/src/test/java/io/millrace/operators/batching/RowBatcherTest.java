// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.batch.EventTimes;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RowBatcherTest {
  private static final Schema SCHEMA = Schema.of(Field.of("id", DataType.INT64));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final AtomicLong clock = new AtomicLong();

  private RowBatcher<RowData> batcher(BatchOptions options) {
    RowTableBuilder table = new RowTableBuilder(SCHEMA, device.hostStream(), device.hostMemory());
    return new RowBatcher<>(
        table,
        new RowDataAppender(table),
        new EventTimes(device.hostStream(), device.hostMemory()),
        options,
        clock::get);
  }

  @Test
  void aBatchHasNoAgeIfTheClockWasSetBack() {
    try (RowBatcher<RowData> batcher = batcher(BatchOptions.latency(Duration.ofMillis(20)))) {
      clock.set(10_000);
      batcher.append(GenericRowData.of(1L), EventTimeColumn.NONE);
      clock.set(9_000);
      assertThat(batcher.ageMillis()).isZero();
    }
  }

  @Test
  void eachTableHasTheRowsSinceTheLast() {
    try (RowBatcher<RowData> batcher = batcher(BatchOptions.DEFAULT)) {
      assertThat(batcher.close(FlushCause.DEADLINE)).isEmpty();
      batcher.append(GenericRowData.of(1L), EventTimeColumn.NONE);
      batcher.append(GenericRowData.of(2L), EventTimeColumn.NONE);
      try (Table table = batcher.close(FlushCause.BARRIER).orElseThrow()) {
        assertThat(table.rowCount()).isEqualTo(2);
      }
      assertThat(batcher.close(FlushCause.BARRIER)).isEmpty();
    }
  }
}
