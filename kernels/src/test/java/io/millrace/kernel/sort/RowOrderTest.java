// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.SortKey;
import io.millrace.memory.AccessScope;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RowOrderTest {
  private static final DataType TAGS = DataType.list(DataType.INT32);
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("name", DataType.STRING),
          Field.of("price", DataType.INT32),
          Field.of("tags", TAGS));

  private static final List<List<?>> ROWS =
      List.of(
          Arrays.asList("b", 1, null),
          Arrays.asList("x", null, null),
          Arrays.asList("b", 2, null),
          Arrays.asList(null, 1, null),
          Arrays.asList("ab", 1, null),
          Arrays.asList("b", 1, null));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private int[] order(SortKey... keys) {
    try (Table table =
            TableBuilder.ofRows(SCHEMA, ROWS)
                .buildOnHost(device.hostStream(), device.hostMemory());
        AccessScope scope = AccessScope.on(device.hostStream())) {
      return RowOrder.of(table, List.of(keys), scope);
    }
  }

  @Test
  void theFirstKeyIsTheMostSignificantAndEqualRowsKeepTheirOrder() {
    assertThat(order(new SortKey("price", true, false), new SortKey("name", false, true)))
        .containsExactly(2, 3, 4, 0, 5, 1);
  }

  @Test
  void nullsComeFirstOrLast() {
    assertThat(order(new SortKey("price", false, true))).containsExactly(1, 0, 3, 4, 5, 2);
    assertThat(order(new SortKey("price", false, false))).containsExactly(0, 3, 4, 5, 2, 1);
  }

  @Test
  void aTypeWithoutAnOrderIsRefused() {
    assertThat(RowOrder.supports(TAGS)).isFalse();
    assertThatThrownBy(() -> order(new SortKey("tags", false, true)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("ARRAY<INT> has no order");
  }
}
