// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType.Field;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TableTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private Table table() {
    return new TableBuilder()
        .column("id", DataType.INT64, 1, 2, 3)
        .column("name", DataType.STRING, "a", null, "c")
        .build(device);
  }

  @Test
  void selectsColumnsByNameWithoutCopying() {
    try (Table table = table()) {
      long held = device.heldBytes();
      try (Table selected = table.select(List.of("name", "id"))) {
        assertThat(device.heldBytes()).isEqualTo(held);
        assertThat(selected.schema().names()).containsExactly("name", "id");
        assertThat(device.rows(selected).toString()).isEqualTo("[[a, 1], [null, 2], [c, 3]]");
      }
      assertThatIllegalArgumentException()
          .isThrownBy(() -> table.select(List.of("id", "age")))
          .withMessage("there is no column 'age'; the columns are id, name");
    }
  }

  @Test
  void slicesOutliveTheirTable() {
    Table table = table();
    Table slice = table.slice(1, 2);
    table.close();
    assertThat(slice.rowCount()).isEqualTo(2);
    assertThat(slice.rowCountUpperBound()).isEqualTo(2);
    assertThat(device.rows(slice).toString()).isEqualTo("[[2, null], [3, c]]");
    assertThatThrownBy(() -> slice.slice(1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
    slice.close();
  }

  @Test
  void aTableHasTheRowsThatItsDeviceCounted() {
    try (StagingBuffer source = device.device().stagingPool().acquire(Integer.BYTES);
        Table table = table()) {
      HostMemory.putInt(source.address(), 2);
      DeferredRowCount count =
          new DeferredRowCount(table.rowCount(), device.stream(), device.memory());
      try (AccessScope scope = AccessScope.on(device.stream())) {
        long deviceCount = count.deviceCount().access(AccessMode.WRITE, scope);
        device.stream().copy(deviceCount, source.address(), Integer.BYTES);
        device.stream().copy(count.hostAddress(), deviceCount, Integer.BYTES);
        count.written();
      }
      List<Column> columns = table.columns().stream().map(Column::share).toList();
      try (Table counted = new Table(table.schema(), columns, count);
          Table shared = counted.share()) {
        assertThat(device.rows(shared).toString()).isEqualTo("[[1, a], [2, null]]");
        assertThat(counted.rowCount()).isEqualTo(2);
      }
      device.stream().synchronize();
    }
  }

  @Test
  void aTableWithoutColumnsHasRows() {
    try (Table table = new Table(Schema.of(), List.of(), 5);
        Table slice = table.slice(2, 3)) {
      assertThat(slice.rowCount()).isEqualTo(3);
      assertThat(device.rows(slice)).hasSize(3);
    }
  }

  @Test
  void columnsMustFitTheSchemaAndTheRowCount() {
    try (Table table = table()) {
      List<Column> columns = table.columns();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new Table(table.schema(), columns, 4))
          .withMessage("expected BIGINT[4] for column 'id', got BIGINT[3]");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new Table(Schema.of(Field.of("id", DataType.INT64)), columns, 3))
          .withMessage("expected a column for each field of (id BIGINT), got 2");
      assertThatIllegalArgumentException()
          .isThrownBy(
              () ->
                  new Table(
                      Schema.of(Field.of("id", DataType.INT32), Field.of("n", DataType.STRING)),
                      columns,
                      3))
          .withMessage("expected INT[3] for column 'id', got BIGINT[3]");
      assertThatIllegalArgumentException()
          .isThrownBy(
              () ->
                  new Table(
                      Schema.of(
                          Field.of("id", DataType.INT64),
                          new Field("name", DataType.STRING, false)),
                      columns,
                      3))
          .withMessage("column 'name' is NOT NULL and has 1 nulls");
      assertThat(device.rows(table)).as("the columns stay the caller's").hasSize(3);
    }
  }

  @Test
  void sizeInBytesIsWhatIsHeld() {
    Schema schema = DataTypes.schema(DataTypes.all());
    try (Table table = new RandomTables(random.random(), 0.3).generate(schema, 100, device)) {
      assertThat(table.sizeInBytes()).isEqualTo(device.heldBytes());
    }
  }

  @Test
  void theRandomTablesAreTheSameForTheSameSeed() {
    Schema schema = DataTypes.schema(DataTypes.all());
    List<List<Object>> rows = new RandomTables(new Random(random.seed()), 0.3).rows(schema, 50);
    assertThat(new RandomTables(new Random(random.seed()), 0.3).rows(schema, 50)).isEqualTo(rows);
    try (Table sliced = new RandomTables(random.random(), 0.3).generateSliced(schema, 50, device)) {
      assertThat(sliced.column(0).offset()).isPositive();
      assertThat(device.rows(sliced)).hasSize(50);
    }
  }
}
