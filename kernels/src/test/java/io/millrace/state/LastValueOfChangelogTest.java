// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateSchema;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Last values beside counts and sums of rows that are taken back. */
class LastValueOfChangelogTest {
  private static final byte NONE = ChangeKind.NONE.value();
  private static final byte INSERT = ChangeKind.INSERT.value();
  private static final byte BEFORE = ChangeKind.UPDATE_BEFORE.value();
  private static final byte AFTER = ChangeKind.UPDATE_AFTER.value();
  private static final byte DELETE = ChangeKind.DELETE.value();
  private static final StateSchema SCHEMA =
      new StateSchema(
          Schema.of(
              Field.of("k", DataType.INT32),
              Field.of("kind", DataType.INT8),
              Field.of("is_row", DataType.INT32),
              Field.of("x", DataType.FLOAT64),
              Field.of("v", DataType.INT64),
              Field.of("s", DataType.STRING)),
          List.of(0),
          List.of(
              Accumulator.countRows("rows", 2),
              new Accumulator("sum", Function.SUM, 3),
              new Accumulator("v", Function.LAST, 4),
              new Accumulator("s", Function.LAST, 5)),
          1);
  private static final String LONG = "a string of more than 12 bytes";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void theLastValueStaysWhenAllRowsAreTakenBack() {
    try (StateTable table = new StateTable(SCHEMA, device.stream(), device.memory())) {
      assertThat(
              changes(
                  table,
                  asList(1, INSERT, 1, 0.1, null, null),
                  asList(1, INSERT, 1, 0.2, null, null),
                  asList(1, INSERT, null, null, 7L, LONG)))
          .extracting(row -> row.get(5))
          .containsExactly(NONE, INSERT);
      assertThat(changes(table, asList(1, INSERT, null, null, 8L, "short")))
          .containsExactly(
              asList(1, 2L, 0.1 + 0.2, 7L, LONG, BEFORE),
              asList(1, 2L, 0.1 + 0.2, 8L, "short", AFTER));
      assertThat(
              changes(
                  table,
                  asList(1, DELETE, 1, 0.1, null, null),
                  asList(1, BEFORE, 1, 0.2, null, null)))
          .first()
          .isEqualTo(asList(1, 2L, 0.1 + 0.2, 8L, "short", DELETE));
      // The sum begins again; the last values do not.
      assertThat(changes(table, asList(1, INSERT, 1, 0.3, null, null)))
          .last()
          .isEqualTo(asList(1, 1L, 0.3, 8L, "short", INSERT));
    }
  }

  private List<List<Object>> changes(StateTable table, List<?>... rows) {
    try (Table batch = TableBuilder.ofRows(SCHEMA.input(), List.of(rows)).build(device);
        Table changes = table.update(batch)) {
      return device.rows(changes);
    }
  }
}
