// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.firstValue;
import static io.millrace.operators.aggregate.Aggregate.lastValue;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class FirstAndLastValueTest {
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT32, false),
          Field.of("x", DataType.INT64),
          new Field("y", DataType.FLOAT64, false),
          Field.of("s", DataType.list(DataType.STRING)));
  private static final List<String> KEYS = List.of("k");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @OutOfMemoryTest
  void valuesAreThoseInTheOrderOfRows() throws Exception {
    Job job =
        new Job(
            ROWS, KEYS, firstValue("x"), lastValue("x").filter(col("y").gt(0.0)), lastValue("y"));
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = job.open(device)) {
      assertThat(harness.changes(asList(1, null, 1.0, null), asList(2, 7L, -1.0, null)))
          .containsExactly("+I[1, null, null, 1.0]", "+I[2, 7, null, -1.0]");
      assertThat(
              harness.changes(
                  asList(1, 0L, 2.0, null), asList(1, 5L, -2.0, null), asList(1, null, 3.0, null)))
          .containsExactly("-U[1, null, null, 1.0]", "+U[1, 0, 0, 3.0]");
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = job.restore(device, state)) {
      assertThat(harness.changes(asList(1, 8L, 3.0, null), asList(2, 9L, -0.0, null)))
          .containsExactly(
              "-U[1, 0, 0, 3.0]",
              "+U[1, 0, 8, 3.0]",
              "-U[2, 7, null, -1.0]",
              "+U[2, 7, null, -0.0]");
      assertThat(harness.changes(asList(1, null, 3.0, null))).isEmpty();
    }
  }

  @Test
  void unsupportedArgumentsAreRefused() {
    assertThatThrownBy(() -> new Job(ROWS, KEYS, firstValue("s")).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage("FIRST_VALUE(`s`) is not supported: its argument is ARRAY<STRING>");
    assertThatThrownBy(() -> new Job(ROWS, KEYS, lastValue("x").distinct()).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage("LAST_VALUE(DISTINCT `x`) is not supported: it has DISTINCT");
    assertThatThrownBy(() -> new Job(RowKindColumn.addTo(ROWS), KEYS, lastValue("x")).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "LAST_VALUE(`x`) is not supported for a changelog: the values before are not kept");
  }
}
