// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.testing.RecordingMetricGroup;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.StateRows;
import io.millrace.state.row.StateSchema;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class StateMetricsTest {
  private static final Schema INPUT = Schema.of(new Field("k", DataType.INT64, false));
  private static final StateSchema SCHEMA =
      new StateSchema(
          INPUT, List.of(0), List.of(Accumulator.countRows("rows")), StateSchema.NO_KINDS);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void rowsAndBytesGrowWithTheKeys() {
    RecordingMetricGroup metrics = new RecordingMetricGroup();
    try (KeyedStates states = states()) {
      StateTables state = states.get(KeyedStates.UNNAMED);
      StateMetrics.register(metrics, states, 0);
      assertThat(metrics.gauge("state.rows")).isEqualTo(0L);
      assertThat(metrics.gauge("state.bytes")).isEqualTo(0L);
      assertThat(metrics.gauge("state.indexLoad")).isEqualTo(0.0);
      update(state, 100);
      assertThat(metrics.gauge("state.rows")).isEqualTo(100L);
      long bytes = (Long) metrics.gauge("state.bytes");
      assertThat(bytes).isGreaterThan(100L * SCHEMA.rowBytes());
      update(state, 100_000);
      assertThat(metrics.gauge("state.rows")).isEqualTo(100_000L);
      assertThat((Long) metrics.gauge("state.bytes"))
          .isGreaterThan(100_000L * SCHEMA.rowBytes())
          .isLessThanOrEqualTo(device.heldBytes());
      assertThat((Double) metrics.gauge("state.indexLoad")).isBetween(0.4, 0.8);
    }
  }

  @Test
  void extentsThatACheckpointHoldsAreCountedWhenTheyAreCopied() {
    RecordingMetricGroup metrics = new RecordingMetricGroup();
    try (KeyedStates states = states()) {
      StateTables state = states.get(KeyedStates.UNNAMED);
      StateMetrics.register(metrics, states, 0);
      update(state, 300_000);
      assertThat(metrics.gauge("state.copiedExtents")).isEqualTo(0L);
      StateTables.Snapshot snapshot = state.snapshot();
      update(state, 1);
      // An update may write to each extent.
      assertThat(metrics.gauge("state.copiedExtents")).isEqualTo(3L);
      assertThat(metrics.gauge("state.copiedBytes")).isEqualTo(3L * StateRows.CHUNK_BYTES);
      update(state, 1);
      assertThat(metrics.gauge("state.copiedExtents")).isEqualTo(3L);
      snapshot.close();
      update(state, 1);
      state.remove(StateTables.ONLY);
      assertThat(metrics.gauge("state.copiedExtents")).isEqualTo(3L);
      assertThat(metrics.gauge("state.bytes")).isEqualTo(0L);
    }
  }

  private KeyedStates states() {
    return new KeyedStates(Map.of(KeyedStates.UNNAMED, SCHEMA), device.stream(), device.memory());
  }

  private void update(StateTables state, long keys) {
    List<List<Object>> rows = new ArrayList<>();
    for (long key = 0; key < keys; key++) {
      rows.add(List.of(key));
    }
    try (Table batch = TableBuilder.ofRows(INPUT, rows).build(device)) {
      state.forUpdate(StateTables.ONLY).update(batch).close();
    }
  }
}
