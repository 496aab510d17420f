// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType.Field;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.Buffer;
import io.millrace.memory.resource.LimitingResourceAdaptor;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The columns of cuDF's pages on its internals: parts, sizes, slices and null counts. */
class ColumnTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private Column column(DataType type, List<?> values) {
    try (Table table = new TableBuilder().column(Field.of("values", type), values).build(device)) {
      return table.column(0).share();
    }
  }

  private Column column(DataType type, Object... values) {
    return column(type, List.of(values));
  }

  private static List<Integer> everyThirdNull(int size) {
    List<Integer> values = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      values.add(i % 3 == 0 ? null : i);
    }
    return values;
  }

  @Test
  void aThousandIntegersWithNullsHave4000BytesAndAMaskOf128() {
    try (Column column = column(DataType.INT32, everyThirdNull(1_000))) {
      assertThat(column.size()).isEqualTo(1_000);
      assertThat(column.offset()).isZero();
      assertThat(column.data().orElseThrow().size()).isEqualTo(4_000);
      assertThat(column.validity().orElseThrow().size()).isEqualTo(128);
      assertThat(column.children()).isEmpty();
      assertThat(column.nullCount(device.stream())).isEqualTo(334);
      assertThat(column).hasToString("INT[1000]");
    }
  }

  @Test
  void aColumnWithoutNullsHasNoMask() {
    try (Column column = column(DataType.INT32, 1, 2, 3)) {
      assertThat(column.validity()).isEmpty();
      assertThat(column.isNullable()).isFalse();
      assertThat(column.isNullCountKnown()).isTrue();
      assertThat(column.nullCount(device.stream())).isZero();
    }
  }

  @Test
  void stringsAreBytesInTheDataAndOffsetsInAChild() {
    try (Column column = column(DataType.STRING, "do", "you", "have", "any", "cheese?")) {
      assertThat(column.validity()).isEmpty();
      assertThat(column.data().orElseThrow().size()).isEqualTo(19);
      assertThat(column.children()).hasSize(1);
      assertThat(column.child(0).type()).isEqualTo(DataType.INT32);
      assertThat(TableRows.of(column.child(0), device)).isEqualTo(List.of(0, 2, 5, 9, 12, 19));
      try (Buffer bytes = column.data().orElseThrow().share();
          Column characters = new Column(DataType.INT8, 19, 0, bytes, null, List.of())) {
        List<Object> expected = new ArrayList<>();
        for (byte b : "doyouhaveanycheese?".getBytes(StandardCharsets.US_ASCII)) {
          expected.add(b);
        }
        assertThat(TableRows.of(characters, device)).isEqualTo(expected);
      }
    }
  }

  @Test
  void masksArePaddedTo64Bytes() {
    assertThat(Column.maskBytes(0)).isZero();
    assertThat(Column.maskBytes(1)).isEqualTo(64);
    assertThat(Column.maskBytes(512)).isEqualTo(64);
    assertThat(Column.maskBytes(513)).isEqualTo(128);
    assertThat(Column.maskBytes(1_000)).isEqualTo(128);
    assertThat(Column.maskBytes(1L << 31)).isEqualTo(1L << 28);
  }

  @Test
  void aSliceHasTheOffsetOfItsFirstElementAndItsOwnSize() {
    try (Column column = column(DataType.INT32, everyThirdNull(100));
        Column slice = column.slice(10, 50);
        Column sliceOfSlice = slice.slice(5, 45);
        Column empty = slice.slice(50, 0)) {
      assertThat(slice.offset()).isEqualTo(10);
      assertThat(slice.size()).isEqualTo(50);
      assertThat(sliceOfSlice.offset()).isEqualTo(15);
      assertThat(sliceOfSlice.size()).isEqualTo(45);
      assertThat(TableRows.of(sliceOfSlice, device)).isEqualTo(everyThirdNull(100).subList(15, 60));
      assertThat(empty.size()).isZero();
      assertThat(empty.nullCount(device.stream())).isZero();
    }
  }

  @Test
  void aSliceTakesNoMemoryAndKeepsItsSource() {
    Column column = column(DataType.STRING, "a", "bb", "ccc");
    long held = device.heldBytes();
    Column slice = column.slice(1, 2);
    assertThat(device.heldBytes()).isEqualTo(held);
    column.close();
    assertThat(TableRows.of(slice, device)).isEqualTo(List.of("bb", "ccc"));
    slice.close();
    assertThat(device.heldBytes()).isZero();
  }

  @Test
  void slicesStayWithinTheirColumn() {
    try (Column column = column(DataType.INT32, 1, 2, 3)) {
      int[][] ranges = {{-1, 2}, {0, 4}, {3, 1}, {1, -1}, {1, Integer.MAX_VALUE}};
      for (int[] range : ranges) {
        assertThatThrownBy(() -> column.slice(range[0], range[1]))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
    }
  }

  @RowCountTest
  void nullCountsOfColumnsAndTheirSlices(int size) {
    List<Integer> values = everyThirdNull(size);
    try (Column column = column(DataType.INT32, values)) {
      assertThat(column.nullCount(device.stream())).isEqualTo(nulls(values));
      for (int start : new int[] {1, 7, 8, 63, 64, 65}) {
        int end = size - start / 2;
        if (start <= end) {
          try (Column slice = column.slice(start, end - start)) {
            assertThat(slice.nullCount(device.stream()))
                .as("nulls from %s to %s", start, end)
                .isEqualTo(nulls(values.subList(start, end)));
          }
        }
      }
    }
  }

  private static int nulls(List<?> values) {
    return Collections.frequency(values, null);
  }

  @Test
  void aNullCountThatIsNotNeededIsNotCounted() {
    try (Column built = column(DataType.INT32, everyThirdNull(11));
        Column column = built.slice(0, 10)) {
      assertThat(built.isNullCountKnown()).isTrue();
      assertThat(column.isNullCountKnown()).isFalse();
      assertThat(column.nullCount(device.stream())).isEqualTo(4);
      assertThat(column.isNullCountKnown()).isTrue();
      try (Column whole = column.share();
          Column part = column.slice(0, 9)) {
        assertThat(whole.isNullCountKnown()).isTrue();
        assertThat(part.isNullCountKnown()).isFalse();
      }
    }
  }

  @Test
  void partsThatDoNotFitAreRefusedAndStayTheCallers() {
    try (Buffer data = Buffer.allocate(12, device.stream(), device.memory());
        Buffer mask = Buffer.allocate(64, device.stream(), device.memory());
        Column offsets = column(DataType.INT32, 0, 1);
        Column longs = column(DataType.INT64, 0)) {
      assertRefused("INT needs a data buffer", DataType.INT32, 3, 0, null, null);
      assertRefused(
          "data of 12 bytes is too small for 4 elements of INT", DataType.INT32, 4, 0, data, null);
      assertRefused(
          "data of 12 bytes is too small for 4 elements of INT", DataType.INT32, 3, 1, data, null);
      assertRefused("size -1 or offset 0 is negative", DataType.INT32, -1, 0, data, null);
      assertRefused(
          "expected at least 128 padded bytes of mask, got 64",
          DataType.struct(),
          513,
          0,
          null,
          mask);
      assertRefused(
          "expected at least 64 padded bytes of mask, got 12",
          DataType.struct(),
          10,
          0,
          null,
          data);
      assertRefused(
          "2147483647 elements at offset 1 are more than 2147483647",
          DataType.struct(),
          Integer.MAX_VALUE,
          1,
          null,
          null);
      assertRefused("ROW<> has no data buffer", DataType.struct(), 1, 0, data, null);
      assertRefused("STRING needs the children [INT]", DataType.STRING, 1, 0, data, null);
      assertRefused("STRING needs the children [INT]", DataType.STRING, 1, 0, data, null, longs);
      assertRefused(
          "2 offsets are too few for 2 elements", DataType.STRING, 2, 0, data, null, offsets);
      assertRefused(
          "a child has fewer than 3 elements",
          DataType.struct(Field.of("f", DataType.INT32)),
          3,
          0,
          null,
          null,
          offsets);
    }
  }

  private static void assertRefused(
      String message,
      DataType type,
      int size,
      int offset,
      Buffer data,
      Buffer validity,
      Column... children) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Column(type, size, offset, data, validity, List.of(children)))
        .withMessage(message);
  }

  @Test
  void aCopyThatRunsOutOfMemoryHoldsNothing() {
    Schema schema = DataTypes.schema(DataTypes.nested());
    RandomTables tables = new RandomTables(random.random(), 0.3);
    try (Table table = tables.generate(schema, 100, device)) {
      long bytes = table.sizeInBytes();
      for (long limit = 0; limit < bytes; limit += bytes / 40) {
        LimitingResourceAdaptor limited = new LimitingResourceAdaptor(device.memory(), limit);
        assertThatThrownBy(() -> table.copyTo(limited, device.stream(), device.stream()))
            .isInstanceOf(GpuOutOfMemoryException.class);
        assertThat(limited.heldBytes()).isZero();
      }
      LimitingResourceAdaptor enough = new LimitingResourceAdaptor(device.memory(), bytes);
      table.copyTo(enough, device.stream(), device.stream()).close();
    }
  }
}
