// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.expression.vector.ByteArena;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.memory.AccessScope;
import io.millrace.testing.DeviceExtension;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class HostColumnWriterTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final ByteArena arena = new ByteArena();

  private HostColumnWriter writer(AccessScope scope) {
    return new HostColumnWriter(DataType.STRING, false, true, 4, scope, device.hostMemory());
  }

  private HostVector vector(String... values) {
    HostVector vector = new HostVector(DataType.STRING, arena);
    for (int row = 0; row < values.length; row++) {
      vector.setString(row, values[row]);
    }
    return vector;
  }

  @Test
  void bytesMoveToLargerMemory() {
    String large = "x".repeat(10_000);
    try (arena;
        AccessScope scope = AccessScope.on(device.hostStream());
        HostColumnWriter writer = writer(scope)) {
      writer.append(vector("a", "b"), Rows.all(2, null));
      writer.append(vector("c", large), Rows.all(2, null));
      Column column = writer.finish();
      try (Table table =
          new Table(Schema.of(new Field("x", DataType.STRING, false)), List.of(column), 4)) {
        assertThat(device.rows(table))
            .containsExactly(List.of("a"), List.of("b"), List.of("c"), List.of(large));
      }
    }
  }

  @Test
  void moreBytesThanAColumnHoldsAreRefusedBeforeAnyIsCopied() {
    try (arena;
        AccessScope scope = AccessScope.on(device.hostStream());
        HostColumnWriter writer = writer(scope)) {
      HostVector values = vector("a", "b");
      values.setBytes(0, values.address(0), Integer.MAX_VALUE);
      assertThatThrownBy(() -> writer.append(values, Rows.all(2, null)))
          .isInstanceOf(GpuOutOfMemoryException.class)
          .hasMessage("expected at most 2 GiB of bytes in a column, got 2147483648 or more");
    }
  }

  @Test
  void memoryThatCannotBeAccessedIsGivenBack() {
    AccessScope scope = AccessScope.on(device.hostStream());
    try (arena;
        HostColumnWriter writer = writer(scope)) {
      scope.close();
      assertThatThrownBy(() -> writer.append(vector("a"), Rows.all(1, null)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
  }
}
