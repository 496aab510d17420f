package io.millrace.operators.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.LimitingResourceAdaptor;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SelectTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("id", DataType.INT64),
          Field.of("name", DataType.STRING),
          Field.of("price", DataType.INT32));
  private static final Select SELECT =
      new Select(
          SCHEMA,
          List.of(
              new Projection("price", Field.of("eur", DataType.FLOAT64)),
              new Projection("id", Field.of("id", DataType.INT64)),
              new Projection("price", Field.of("small", DataType.INT8))));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void columnsAreSelectedRenamedAndCast() {
    try (Table input = input();
        Table output =
            device.assertLaunches(2, () -> SELECT.apply(input, device.stream(), device.memory()))) {
      assertThat(output.schema()).isEqualTo(SELECT.outputSchema());
      assertThat(output.schema().names()).containsExactly("eur", "id", "small");
      assertThat(device.rows(output))
          .containsExactly(Arrays.asList(300.0, 1L, (byte) 44), Arrays.asList(null, 2L, null));
    }
  }

  @Test
  void aFailedAllocationLeavesNothing() {
    try (Table input = input()) {
      // Room for the first cast, not for the second.
      LimitingResourceAdaptor limited = new LimitingResourceAdaptor(device.memory(), 17);
      assertThatThrownBy(() -> SELECT.apply(input, device.stream(), limited))
          .hasMessageContaining("17");
      assertThat(limited.heldBytes()).isZero();
    }
  }

  @Test
  void whatDoesNotFitTheInputIsRefused() {
    assertThatThrownBy(() -> select("nope", Field.of("x", DataType.INT64)))
        .hasMessage("there is no column 'nope'; the columns are id, name, price");
    assertThatThrownBy(() -> select("name", Field.of("x", DataType.INT64)))
        .hasMessage("cannot cast column 'name' from STRING to BIGINT");
  }

  private static Select select(String source, Field target) {
    return new Select(SCHEMA, List.of(new Projection(source, target)));
  }

  private Table input() {
    return new TableBuilder()
        .column("id", DataType.INT64, 1L, 2L)
        .column("name", DataType.STRING, "a", "b")
        .column("price", DataType.INT32, 300, null)
        .build(device);
  }
}
