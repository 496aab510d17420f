// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(NothingHeldExtension.class)
class ExplodeTransformTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("name", DataType.STRING),
          Field.of("tags", DataType.list(DataType.INT32)),
          Field.of("others", DataType.list(DataType.STRING)));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static List<List<?>> rows() {
    return List.of(
        List.of("many", Arrays.asList(3, null, 1), List.of("x", "yy")),
        List.of("none", List.of(), List.of()),
        Arrays.asList("null", null, null),
        Arrays.asList(null, List.of(7, 7), Arrays.asList("z", null)));
  }

  @OutOfMemoryTest(attempts = 3)
  void eachElementMakesARowAndRowsWithoutOneVanish() throws Exception {
    try (TransformHarness harness =
        new TransformHarness(device, SCHEMA, ExplodeTransform.factory("tags", false))) {
      harness.send(5, rows());
      assertThat(harness.rows())
          .containsExactly(
              List.of("many", 3, List.of("x", "yy")),
              Arrays.asList("many", null, List.of("x", "yy")),
              List.of("many", 1, List.of("x", "yy")),
              Arrays.asList(null, 7, Arrays.asList("z", null)),
              Arrays.asList(null, 7, Arrays.asList("z", null)));
      assertThat(harness.batches()).allMatch(batch -> batch.timestamp() == 5);
    }
  }

  @OutOfMemoryTest
  void theOuterFormKeepsRowsWithoutElements() throws Exception {
    try (TransformHarness harness =
        new TransformHarness(device, SCHEMA, ExplodeTransform.factory("others", true))) {
      harness.send(5, rows());
      assertThat(harness.rows())
          .containsExactly(
              Arrays.asList("many", Arrays.asList(3, null, 1), "x"),
              Arrays.asList("many", Arrays.asList(3, null, 1), "yy"),
              Arrays.asList("none", List.of(), null),
              Arrays.asList("null", null, null),
              Arrays.asList(null, List.of(7, 7), "z"),
              Arrays.asList(null, List.of(7, 7), null));
    }
  }

  @OutOfMemoryTest
  void anElementIsNullWhereThereIsNoneAlsoIfNoElementIsNull() throws Exception {
    try (TransformHarness harness =
        new TransformHarness(device, SCHEMA, ExplodeTransform.factory("tags", true))) {
      harness.send(
          5,
          List.of(
              List.of("a", List.of(1, 2), List.of()), Arrays.asList("b", List.of(), List.of())));
      assertThat(harness.rows())
          .containsExactly(
              List.of("a", 1, List.of()),
              List.of("a", 2, List.of()),
              Arrays.asList("b", null, List.of()));
    }
  }

  @ParameterizedTest
  @CsvSource({"false, 0", "false, 0.3", "true, 0", "true, 0.3"})
  void randomSlicedTablesAreExplodedRowByRow(boolean outer, double nullFraction) throws Exception {
    try (TransformHarness harness =
        new TransformHarness(device, SCHEMA, ExplodeTransform.factory("tags", outer))) {
      Table table =
          new RandomTables(random.random(), nullFraction).generateSliced(SCHEMA, 1_000, device);
      List<List<Object>> expected = new ArrayList<>();
      device.rows(table).forEach(row -> explode(row, outer, expected));
      harness.send(5, table);
      assertThat(harness.rows()).isEqualTo(expected);
    }
  }

  private static void explode(List<Object> row, boolean outer, List<List<Object>> rows) {
    List<?> list = (List<?>) row.get(1);
    boolean isEmpty = list == null || list.isEmpty();
    List<?> elements = !isEmpty ? list : outer ? Arrays.asList((Object) null) : List.of();
    elements.forEach(element -> rows.add(Arrays.asList(row.get(0), element, row.get(2))));
  }
}
