// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.Buffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TableRowsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void readsWhatWasBuilt() {
    try (Table table =
        new TableBuilder()
            .column("id", DataType.INT64, 1, null, 3)
            .column("name", DataType.STRING, "one", null, "three")
            .build(device)) {
      assertThat(device.rows(table).toString()).isEqualTo("[[1, one], [null, null], [3, three]]");
      assertThat(table.column(0).device()).contains(device.device());
    }
  }

  @RowCountTest
  void everyTypeSurvivesTheDevice(int rowCount) {
    Schema schema = DataTypes.schema(DataTypes.all());
    int rows = Math.min(rowCount, 2_000);
    List<List<Object>> expected = new RandomTables(random.random(), 0.2).rows(schema, rows);
    try (Table table = TableBuilder.ofRows(schema, expected).build(device)) {
      assertThat(device.rows(table)).isEqualTo(expected);
    }
  }

  @Test
  void slicesOfEveryTypeAreRead() {
    Schema schema = DataTypes.schema(DataTypes.all());
    List<List<Object>> expected = new RandomTables(random.random(), 0.5).rows(schema, 200);
    try (Table table = TableBuilder.ofRows(schema, expected).build(device);
        Table slice = table.slice(37, 101);
        Table sliceOfSlice = slice.slice(5, 90)) {
      assertThat(device.rows(slice)).isEqualTo(expected.subList(37, 138));
      assertThat(device.rows(sliceOfSlice)).isEqualTo(expected.subList(42, 132));
    }
  }

  @Test
  void heldMemoryIsReportedWithItsSite() {
    try (Buffer held = Buffer.allocate(100, device.stream(), device.memory())) {
      assertThat(held.size()).isEqualTo(100);
      assertThatThrownBy(device::assertNothingHeld)
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("heldMemoryIsReportedWithItsSite");
    }
  }
}
