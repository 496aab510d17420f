// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class ExpandTransformTest {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("name", DataType.STRING, true),
          new Field("n", DataType.INT32, false),
          new Field("tags", DataType.list(DataType.INT32), true));
  private static final List<CalcPlan> PROJECTIONS =
      List.of(
          select(col("name"), col("n"), lit(0L).as("set")),
          select(nullOf(DataType.STRING).as("name"), col("n"), lit(1L).as("set")),
          select(col("name"), nullOf(DataType.INT32).as("n"), lit(2L).as("set")));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static CalcPlan select(Expression... columns) {
    return CalcPlan.of(SCHEMA, ExpressionSettings.DEFAULT).select(List.of(columns));
  }

  @OutOfMemoryTest
  void eachProjectionGivesARowOfEachRow() throws Exception {
    try (TransformHarness harness =
        new TransformHarness(device, SCHEMA, ExpandTransform.factory(PROJECTIONS))) {
      harness.send(
          5,
          List.of(
              List.of("a", 1, List.of()),
              Arrays.asList(null, 2, null),
              List.of("c", 3, List.of())));
      assertThat(harness.rows())
          .containsExactlyInAnyOrder(
              List.of("a", 1, 0L),
              Arrays.asList(null, 2, 0L),
              List.of("c", 3, 0L),
              Arrays.asList(null, 1, 1L),
              Arrays.asList(null, 2, 1L),
              Arrays.asList(null, 3, 1L),
              Arrays.asList("a", null, 2L),
              Arrays.asList(null, null, 2L),
              Arrays.asList("c", null, 2L));
      assertThat(harness.batches()).allMatch(batch -> batch.timestamp() == 5);
    }
  }

  @Test
  void aColumnIsNullableIfItIsInAProjection() {
    assertThat(ExpandTransform.outputSchema(PROJECTIONS))
        .isEqualTo(
            Schema.of(
                new Field("name", DataType.STRING, true),
                new Field("n", DataType.INT32, true),
                new Field("set", DataType.INT64, false)));
  }

  @Test
  void columnsOfDifferentTypesAreRefused() {
    List<CalcPlan> projections =
        List.of(PROJECTIONS.get(0), select(col("name"), lit(1L).as("n"), lit(1L).as("set")));
    assertThatThrownBy(() -> ExpandTransform.factory(projections))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected INT for 'n', got BIGINT");
  }

  @Test
  void listsAreRefused() {
    List<CalcPlan> projections = List.of(select(col("name"), col("tags"), lit(0L).as("set")));
    assertThatThrownBy(() -> ExpandTransform.factory(projections))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("expected a type other than ARRAY, MAP and ROW for 'tags', got ");
  }
}
