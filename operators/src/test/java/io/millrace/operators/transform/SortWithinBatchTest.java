// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.SortKey;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OperatorHarness;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NothingHeldExtension.class)
class SortWithinBatchTest {
  private static final Schema SCHEMA =
      Schema.of(Field.of("name", DataType.STRING), Field.of("price", DataType.INT32));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @OutOfMemoryTest(attempts = 2)
  void theFirstKeyDecidesAndThenTheNext() throws Exception {
    List<SortKey> keys =
        List.of(new SortKey("price", true, false), new SortKey("name", false, true));
    try (TransformHarness harness =
        new TransformHarness(device, SCHEMA, SortWithinBatch.factory(SCHEMA, keys))) {
      harness.send(
          9,
          List.of(
              List.of("b", 1),
              Arrays.asList("x", null),
              List.of("z", 2),
              List.of("é", 1),
              Arrays.asList(null, 1),
              List.of("ab", 1)));
      assertThat(harness.batches())
          .containsExactly(
              new OperatorHarness.Output(
                  List.of(
                      List.of("z", 2),
                      Arrays.asList(null, 1),
                      List.of("ab", 1),
                      List.of("b", 1),
                      List.of("é", 1),
                      Arrays.asList("x", null)),
                  9));
    }
  }

  static Stream<DataType> orderedTypes() {
    return Stream.of(
        DataType.BOOL,
        DataType.INT8,
        DataType.INT16,
        DataType.INT64,
        DataType.FLOAT32,
        DataType.FLOAT64,
        DataType.decimal(9, 2),
        DataType.decimal(18, 2),
        DataType.decimal(38, 10),
        DataType.DATE,
        DataType.TIME,
        DataType.timestamp(3),
        DataType.timestamp(6),
        DataType.timestamp(9));
  }

  @ParameterizedTest
  @MethodSource("orderedTypes")
  void theSortIsStableAndNullsComeFirstOrLast(DataType type) throws Exception {
    Schema schema = Schema.of(Field.of("key", type), new Field("row", DataType.INT64, false));
    for (boolean nullsFirst : new boolean[] {true, false}) {
      List<SortKey> keys = List.of(new SortKey("key", nullsFirst, nullsFirst));
      try (TransformHarness harness =
          new TransformHarness(device, schema, SortWithinBatch.factory(schema, keys))) {
        Table table = new RandomTables(random.random(), 0.2).generateSliced(schema, 2_000, device);
        List<List<Object>> expected = new ArrayList<>(device.rows(table));
        Comparator<Object> values = Comparator.comparing(SortWithinBatchTest::comparable);
        Comparator<Object> ordered = nullsFirst ? values.reversed() : values;
        expected.sort(
            Comparator.comparing(
                row -> row.get(0),
                nullsFirst ? Comparator.nullsFirst(ordered) : Comparator.nullsLast(ordered)));
        harness.send(9, table);
        assertThat(harness.rows()).isEqualTo(expected);
      }
    }
  }

  @SuppressWarnings("unchecked") // the values of these types are comparable
  private static Comparable<Object> comparable(Object value) {
    Object comparable =
        value instanceof Number number && !(value instanceof Float || value instanceof Double)
            ? new BigDecimal(number.toString())
            : value;
    return (Comparable<Object>) comparable;
  }

  @Test
  void columnsWithoutAnOrderAreRefused() {
    Schema schema = Schema.of(Field.of("tags", DataType.list(DataType.INT32)));
    assertThatThrownBy(
            () -> SortWithinBatch.factory(schema, List.of(new SortKey("tags", false, true))))
        .hasMessage("column 'tags' is ARRAY<INT>, which has no order");
    assertThatThrownBy(() -> SortWithinBatch.factory(schema, List.of()))
        .hasMessage("there is nothing to sort by");
  }
}
