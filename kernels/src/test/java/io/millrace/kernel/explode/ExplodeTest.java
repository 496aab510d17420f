// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.explode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExplodeTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("id", DataType.INT64),
          Field.of("tags", DataType.list(DataType.STRING)),
          Field.of("name", DataType.STRING));

  private static final List<List<?>> ROWS =
      List.of(
          List.of(1L, Arrays.asList("a", null, "ccc"), "many"),
          List.of(2L, List.of(), "none"),
          Arrays.asList(3L, null, "null"),
          Arrays.asList(null, List.of("d"), "one"));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private Table explode(Table input, boolean outer, MemoryResource memory) {
    try (Table positions = positions(input, outer, memory)) {
      return Explode.explode(input, "tags", outer, positions, device.stream(), memory);
    }
  }

  private Table positions(Table input, boolean outer, MemoryResource memory) {
    try (Table bounds = ListPositions.bounds(input.column("tags"));
        Table onHost = bounds.copyTo(device.hostMemory(), device.hostStream(), device.stream());
        AccessScope scope = AccessScope.on(device.hostStream());
        RowTableBuilder builder =
            new RowTableBuilder(ListPositions.SCHEMA, device.hostStream(), device.hostMemory());
        Table positions = ListPositions.of(onHost, outer, scope, builder)) {
      return positions.copyTo(memory, device.stream(), device.stream());
    }
  }

  @Test
  void eachElementReplacesTheListOfItsRow() {
    try (Table input = TableBuilder.ofRows(SCHEMA, ROWS).build(device);
        Table exploded = explode(input, false, device.memory())) {
      assertThat(device.rows(exploded))
          .containsExactly(
              List.of(1L, "a", "many"),
              Arrays.asList(1L, null, "many"),
              List.of(1L, "ccc", "many"),
              Arrays.asList(null, "d", "one"));
    }
  }

  @Test
  void theOuterFormKeepsRowsWithoutElements() {
    try (Table input = TableBuilder.ofRows(SCHEMA, ROWS).build(device);
        Table exploded = explode(input, true, device.memory())) {
      assertThat(device.rows(exploded))
          .hasSize(6)
          .contains(Arrays.asList(2L, null, "none"), Arrays.asList(3L, null, "null"));
    }
  }

  @ParameterizedTest(name = "outer {0}")
  @ValueSource(booleans = {false, true})
  void eachRefusedRequestForMemoryLeavesNothing(boolean outer) {
    List<List<?>> withoutNullElements = List.of(List.of(1L, List.of("a", "b"), "c"), ROWS.get(1));
    try (Table input = TableBuilder.ofRows(SCHEMA, withoutNullElements).build(device)) {
      long held = device.heldBytes();
      AtomicInteger requests = new AtomicInteger();
      int[] refused = {0};
      MemoryResource memory =
          new FailingResourceAdaptor(
              device.memory(), (number, bytes) -> requests.incrementAndGet() == refused[0]);
      explode(input, outer, memory).close();
      int all = requests.get();
      assertThat(all).isGreaterThan(2);
      for (int number = 1; number <= all; number++) {
        requests.set(0);
        refused[0] = number;
        assertThatThrownBy(() -> explode(input, outer, memory))
            .as("request %s", number)
            .isInstanceOf(GpuOutOfMemoryException.class);
        assertThat(device.heldBytes()).as("after request %s", number).isEqualTo(held);
      }
    }
  }

  @Test
  void rowsWithTooManyElementsAreToBeSplit() {
    Schema schema =
        Schema.of(Field.of("begin", DataType.INT32), new Field("end", DataType.INT32, false));
    int half = ListPositions.MAX_ROWS / 2;
    try (Table bounds =
            TableBuilder.ofRows(schema, List.of(List.of(0, half), List.of(half, 2 * half + 1)))
                .buildOnHost(device.hostStream(), device.hostMemory());
        RowTableBuilder builder =
            new RowTableBuilder(ListPositions.SCHEMA, device.hostStream(), device.hostMemory());
        AccessScope scope = AccessScope.on(device.hostStream())) {
      assertThatThrownBy(() -> ListPositions.of(bounds, false, scope, builder))
          .isInstanceOf(GpuOutOfMemoryException.class)
          .hasMessageContaining(" list elements for a table, got ");
    }
  }

  @Test
  void theElementTakesTheListsPlaceAndType() {
    Schema schema =
        Schema.of(
            new Field(
                "a",
                new DataType(
                    TypeId.LIST, 0, 0, false, List.of(new Field("element", DataType.INT64, false))),
                false));
    assertThat(Explode.outputSchema(schema, "a", false))
        .isEqualTo(Schema.of(new Field("a", DataType.INT64, false)));
    assertThat(Explode.outputSchema(schema, "a", true))
        .isEqualTo(Schema.of(Field.of("a", DataType.INT64)));
    assertThatThrownBy(() -> Explode.outputSchema(SCHEMA, "id", false))
        .hasMessage("expected an ARRAY for column 'id', got BIGINT");
  }
}
