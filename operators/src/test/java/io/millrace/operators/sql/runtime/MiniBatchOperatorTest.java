// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OperatorHarness.Output;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.util.List;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class MiniBatchOperatorTest {
  private static final Duration INTERVAL = Duration.ofMillis(100);
  private static final Schema SCHEMA = Schema.of(Field.of("id", DataType.INT64));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private RuntimeHarness open(OperatorFactory<ColumnBatch, ColumnBatch> factory) throws Exception {
    return new RuntimeHarness(device, SCHEMA, factory, 0);
  }

  private static List<Object> elements(RuntimeHarness harness) {
    return harness.elements().stream()
        .map(element -> element instanceof Output output ? output.rows().get(0).get(0) : element)
        .toList();
  }

  @Test
  void inProcessingTimeWatermarksAreAnIntervalApart() throws Exception {
    try (RuntimeHarness harness = open(MiniBatchOperator.inProcessingTime(INTERVAL))) {
      harness.setTime(50);
      harness.send(0, List.of(List.of(1L)));
      harness.send(new Watermark(7));
      harness.setTime(120);
      harness.send(0, List.of(List.of(2L)));
      harness.setTime(210);
      harness.send(Watermark.MAX_WATERMARK);
      assertThat(elements(harness))
          .containsExactly(1L, new Watermark(100), 2L, new Watermark(200), Watermark.MAX_WATERMARK);
    }
  }

  @Test
  void inEventTimeWatermarksThatEndAnIntervalPass() throws Exception {
    try (RuntimeHarness harness = open(MiniBatchOperator.inEventTime(INTERVAL))) {
      harness.send(0, List.of(List.of(1L)));
      for (long watermark : new long[] {50, 99, 150, 198, 320, 330}) {
        harness.send(new Watermark(watermark));
      }
      harness.finish();
      assertThat(elements(harness))
          .containsExactly(1L, new Watermark(99), new Watermark(320), new Watermark(330));
    }
  }
}
