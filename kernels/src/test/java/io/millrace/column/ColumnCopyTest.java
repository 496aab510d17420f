// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Copies of columns and tables: shallow until they are written to, deep where they can be. */
class ColumnCopyTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  static List<DataType> allTypes() {
    return DataTypes.all();
  }

  private Column column(DataType type, Object... values) {
    Column host = new TableBuilder().column("c", type, values).buildOnHost(device).columns().get(0);
    try (host) {
      return host.copyTo(device.fixedMemory(), device.stream(), device.stream());
    }
  }

  private long address(Buffer buffer) {
    try (AccessScope scope = AccessScope.on(device.stream())) {
      return buffer.access(AccessMode.READ, scope);
    }
  }

  private long address(Column column) {
    return address(column.data().orElseThrow());
  }

  private void write(Column column, int... values) {
    try (StagingBuffer host = device.device().stagingPool().acquire(4L * values.length);
        AccessScope scope = AccessScope.on(device.stream())) {
      for (int i = 0; i < values.length; i++) {
        HostMemory.putInt(host.address() + 4L * i, values[i]);
      }
      long target = column.data().orElseThrow().access(AccessMode.WRITE, scope);
      device.stream().copy(target, host.address(), 4L * values.length);
      device.stream().synchronize();
    }
  }

  private List<Object> values(Column column) {
    return TableRows.of(column, device);
  }

  @Test
  void shallowCopiesShareTheirMemoryUntilOneIsWrittenTo() {
    try (Column s1 = column(DataType.INT32, 1, 2, 3, 4);
        Column s2 = s1.shallowCopy(device.stream());
        Column s3 = s2.shallowCopy(device.stream())) {
      long shared = address(s1);
      assertThat(address(s2)).isEqualTo(shared);
      assertThat(address(s3)).isEqualTo(shared);

      write(s2, 10, 10);
      assertThat(values(s2)).containsExactly(10, 10, 3, 4);
      assertThat(values(s1)).containsExactly(1, 2, 3, 4);
      assertThat(values(s3)).containsExactly(1, 2, 3, 4);
      assertThat(address(s2)).isNotEqualTo(shared);
      assertThat(address(s1)).isEqualTo(shared);
      assertThat(address(s3)).isEqualTo(shared);

      write(s1, 11, 11);
      assertThat(values(s1)).containsExactly(11, 11, 3, 4);
      assertThat(values(s2)).containsExactly(10, 10, 3, 4);
      assertThat(values(s3)).containsExactly(1, 2, 3, 4);
      assertThat(address(s1)).isNotEqualTo(shared);
      assertThat(address(s3)).isEqualTo(shared);
    }
  }

  @Test
  void aShallowCopyOfAnExposedColumnIsARealCopy() {
    try (Column column = column(DataType.INT32, 1, 2, 3);
        AccessScope scope = AccessScope.on(device.stream())) {
      long exposed = column.data().orElseThrow().expose(scope);
      try (Column copy = column.shallowCopy(device.stream())) {
        assertThat(address(copy)).isNotEqualTo(exposed);
        assertThat(values(copy)).containsExactly(1, 2, 3);
      }
    }
  }

  @Test
  void aDeepCopyOfFixedWidthHasMemoryOfItsOwn() {
    try (Column column = column(DataType.INT32, 1, null, 3);
        Column copy = column.deepCopy(device.stream())) {
      assertThat(address(copy)).isNotEqualTo(address(column));
      assertThat(address(copy.validity().orElseThrow()))
          .isNotEqualTo(address(column.validity().orElseThrow()));
      assertThat(values(copy)).isEqualTo(Arrays.asList(1, null, 3));
    }
  }

  @Test
  void aDeepCopyOfVariableWidthIsShallow() {
    DataType list = DataType.list(DataType.INT32);
    try (Column strings = column(DataType.STRING, "a", "bb", null);
        Column stringsCopy = strings.deepCopy(device.stream());
        Column lists = column(list, List.of(1, 2), List.of(3));
        Column listsCopy = lists.deepCopy(device.stream())) {
      assertThat(address(stringsCopy)).isEqualTo(address(strings));
      assertThat(address(stringsCopy.child(0))).isEqualTo(address(strings.child(0)));
      assertThat(address(stringsCopy.validity().orElseThrow()))
          .isEqualTo(address(strings.validity().orElseThrow()));
      assertThat(address(listsCopy.child(1))).isEqualTo(address(lists.child(1)));
      assertThat(values(stringsCopy)).isEqualTo(Arrays.asList("a", "bb", null));
    }
  }

  @Test
  void aDeepCopyOfADictionaryCopiesTheCodesAlone() {
    DataType type = DataType.dictionary(DataType.INT32);
    try (Column column = column(type, 7, 8, 7);
        Column copy = column.deepCopy(device.stream())) {
      assertThat(address(copy)).isNotEqualTo(address(column));
      assertThat(address(copy.child(0))).isEqualTo(address(column.child(0)));
      assertThat(values(copy)).isEqualTo(values(column));
    }
  }

  @ParameterizedTest
  @MethodSource("allTypes")
  void copiesHaveTheContentOfTheirSourceAlsoOfASlice(DataType type) {
    Schema schema = DataTypes.schema(List.of(type));
    try (Table table = new RandomTables(random.random(), 0.2).generateSliced(schema, 100, device);
        Table shallow = table.shallowCopy(device.stream());
        Table deep = table.deepCopy(device.stream())) {
      List<List<Object>> rows = device.rows(table);
      assertThat(device.rows(shallow)).isEqualTo(rows);
      assertThat(device.rows(deep)).isEqualTo(rows);
      assertThat(shallow.column(0).offset()).isEqualTo(table.column(0).offset());
    }
  }

  @Test
  void aCopyThatFailsHalfWayHoldsNothing() {
    Column open = column(DataType.INT32, 1, null);
    Column closed = column(DataType.STRING, "a", null);
    closed.validity().orElseThrow().close();
    Schema schema =
        new Schema(
            List.of(
                DataType.Field.of("open", DataType.INT32),
                DataType.Field.of("closed", DataType.STRING)));
    try (Table table = new Table(schema, List.of(open, closed), 2)) {
      int slices = open.data().orElseThrow().liveSlices();
      long held = device.heldBytes();
      Stream.<Runnable>of(
              () -> table.slice(0, 1),
              table::share,
              () -> table.select(List.of("open", "closed")),
              () -> table.shallowCopy(device.stream()),
              () -> table.deepCopy(device.stream()),
              () -> table.copyTo(device.memory(), device.stream(), device.stream()))
          .forEach(
              step ->
                  assertThatIllegalStateException()
                      .isThrownBy(step::run)
                      .withMessage("the buffer is closed"));
      assertThat(open.data().orElseThrow().liveSlices()).isEqualTo(slices);
      assertThat(closed.data().orElseThrow().liveSlices()).isEqualTo(slices);
      assertThat(device.heldBytes()).isEqualTo(held);
    }
  }

  @Test
  void aTableClosesEveryPartThoughOneFails() {
    Buffer failing =
        Buffer.wrap(
            0,
            0,
            device.stream(),
            device.memory(),
            () -> {
              throw new IllegalStateException("the release failed");
            });
    Column broken = new Column(DataType.INT32, 0, 0, failing, null, List.of());
    Column rest = column(DataType.STRING);
    Schema schema =
        new Schema(
            List.of(
                DataType.Field.of("broken", DataType.INT32),
                DataType.Field.of("rest", DataType.STRING)));
    Table table = new Table(schema, List.of(broken, rest), 0);
    assertThatIllegalStateException().isThrownBy(table::close).withMessage("the release failed");
    assertThat(device.heldBytes()).isZero();
  }

  @ParameterizedTest
  @MethodSource("allTypes")
  void aCopyOfASliceHoldsItsRowsAndNotItsTablesRows(DataType type) {
    Schema schema = new Schema(List.of(new DataType.Field("c", type, true)));
    int rows = 5_000;
    try (Table table = new RandomTables(random.random(), 0.2).generate(schema, rows, device)) {
      List<Object> values = values(table.column(0));
      for (int start : new int[] {0, 1, 511, 512, 513, 2_051, rows - 3}) {
        int size = Math.min(600, rows - start);
        try (Table slice = table.slice(start, size);
            Table copy = slice.copyTo(device.memory(), device.stream(), device.stream())) {
          assertThat(values(copy.column(0))).isEqualTo(values.subList(start, start + size));
          if (type.id().isFixedWidth() && type.childTypes().isEmpty()) {
            assertThat(copy.sizeInBytes()).isLessThan(table.sizeInBytes() / 4);
          }
        }
      }
    }
  }
}
