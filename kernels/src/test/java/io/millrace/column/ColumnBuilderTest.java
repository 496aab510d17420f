// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.memory.resource.LimitingResourceAdaptor;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableRows;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ColumnBuilderTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private <T extends ColumnBuilder> T builder(Class<T> kind, DataType type) {
    return kind.cast(ColumnBuilder.of(type, device.hostStream(), device.hostMemory()));
  }

  private FixedWidthColumnBuilder integers() {
    return builder(FixedWidthColumnBuilder.class, DataType.INT32);
  }

  private VariableWidthColumnBuilder strings() {
    return builder(VariableWidthColumnBuilder.class, DataType.STRING);
  }

  private List<Object> finish(ColumnBuilder builder) {
    try (Column column = builder.finish()) {
      assertThat(builder.size()).isZero();
      return TableRows.of(column, device);
    }
  }

  private static byte[] utf8(String string) {
    return string.getBytes(StandardCharsets.UTF_8);
  }

  @RowCountTest
  void growsToAnySize(int size) {
    List<Object> expectedIntegers = new ArrayList<>();
    List<Object> expectedStrings = new ArrayList<>();
    try (FixedWidthColumnBuilder integers = integers();
        VariableWidthColumnBuilder strings = strings()) {
      for (int i = 0; i < size; i++) {
        integers.appendInt(i);
        strings.appendBytes(utf8("s" + i));
        expectedIntegers.add(i);
        expectedStrings.add("s" + i);
      }
      assertThat(integers.size()).isEqualTo(size);
      assertThat(integers.sizeInBytes()).isEqualTo(4L * size);
      assertThat(finish(integers)).isEqualTo(expectedIntegers);
      assertThat(finish(strings)).isEqualTo(expectedStrings);
    }
  }

  @RowCountTest
  void aNullAtAnyPlaceLeavesTheOthersValid(int size) {
    try (FixedWidthColumnBuilder builder = integers()) {
      for (int nullAt : new int[] {0, size / 2, size - 1}) {
        List<Object> expected = new ArrayList<>();
        for (int i = 0; i < size; i++) {
          if (i == nullAt) {
            builder.appendNull();
          } else {
            builder.appendInt(i);
          }
          expected.add(i == nullAt ? null : i);
        }
        assertThat(finish(builder)).isEqualTo(expected);
      }
    }
  }

  @Test
  void allNullColumnsOfEveryKind() {
    for (DataType type :
        List.of(
            DataType.INT8,
            DataType.STRING,
            DataType.timestamp(9),
            DataType.list(DataType.STRING),
            DataType.struct(DataType.Field.of("f", DataType.list(DataType.INT32))))) {
      try (ColumnBuilder builder =
          ColumnBuilder.of(type, device.hostStream(), device.hostMemory())) {
        for (int i = 0; i < 1_000; i++) {
          builder.appendNull();
        }
        assertThat(finish(builder)).isEqualTo(Collections.nCopies(1_000, null));
      }
    }
  }

  @Test
  void emptyColumnsHaveAllTheirParts() {
    try (VariableWidthColumnBuilder strings = strings();
        ListColumnBuilder lists = builder(ListColumnBuilder.class, DataType.list(DataType.STRING));
        Column noStrings = strings.finish();
        Column noLists = lists.finish()) {
      assertThat(TableRows.of(noStrings.child(0), device)).isEqualTo(List.of(0));
      assertThat(noStrings.data().orElseThrow().size()).isZero();
      assertThat(TableRows.of(noLists.child(0), device)).isEqualTo(List.of(0));
      assertThat(noLists.child(1).size()).isZero();
    }
  }

  @Test
  void aFinishedBuilderStartsAfresh() {
    try (VariableWidthColumnBuilder builder = strings()) {
      builder.appendBytes(utf8("first"));
      builder.appendNull();
      try (Column first = builder.finish()) {
        builder.appendBytes(utf8("second"));
        try (Column second = builder.finish()) {
          assertThat(second.isNullable()).isFalse();
          assertThat(TableRows.of(second, device)).isEqualTo(List.of("second"));
        }
        assertThat(TableRows.of(first, device).get(0)).isEqualTo("first");
        assertThat(finish(builder)).isEmpty();
      }
    }
  }

  @Test
  void listsAndStructsOfPartsThatWereAppendedBefore() {
    try (ListColumnBuilder lists = builder(ListColumnBuilder.class, DataType.list(DataType.INT32));
        StructColumnBuilder timestamps =
            builder(StructColumnBuilder.class, DataType.timestamp(9))) {
      FixedWidthColumnBuilder elements = (FixedWidthColumnBuilder) lists.elements();
      elements.appendInt(1);
      elements.appendNull();
      lists.appendList();
      lists.appendNull();
      lists.appendList();
      elements.appendInt(3);
      lists.appendList();
      List<Object> first = new ArrayList<>(List.of(1));
      first.add(null);
      List<Object> expected = new ArrayList<>();
      expected.add(first);
      expected.add(null);
      expected.add(List.of());
      expected.add(List.of(3));
      assertThat(finish(lists)).isEqualTo(expected);

      ((FixedWidthColumnBuilder) timestamps.fields().get(0)).appendLong(-1);
      ((FixedWidthColumnBuilder) timestamps.fields().get(1)).appendInt(999_999);
      timestamps.appendStruct();
      assertThat(finish(timestamps).toString()).isEqualTo("[1969-12-31T23:59:59.999999999]");
    }
  }

  @Test
  void bytesCanBeWrittenInPlaceAndInParts() {
    try (VariableWidthColumnBuilder builder =
        builder(VariableWidthColumnBuilder.class, DataType.BINARY)) {
      builder.appendBytes(utf8("xabcx"), 1, 3);
      long address = builder.appendUninitialized(2);
      HostMemory.putByte(address, (byte) 'd');
      HostMemory.putByte(address + 1, (byte) 'e');
      try (Column column = builder.finish();
          AccessScope scope = AccessScope.on(device.hostStream())) {
        ColumnReader reader = new ColumnReader(column, scope);
        assertThat(reader.getBytes(0)).isEqualTo(utf8("abc"));
        assertThat(reader.getBytes(1)).isEqualTo(utf8("de"));
        assertThat(reader.getOffset(1)).isEqualTo(3);
        assertThat(reader.getLength(1)).isEqualTo(2);
      }
    }
  }

  @Test
  void bytesOutsideOfTheArrayAreRefused() {
    try (VariableWidthColumnBuilder builder = strings()) {
      builder.appendBytes(utf8("a"));
      for (int[] range : new int[][] {{4, 64}, {-16, 32}, {0, -1}, {9, 0}}) {
        assertThatThrownBy(() -> builder.appendBytes(new byte[8], range[0], range[1]))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
      assertThatIllegalArgumentException()
          .isThrownBy(() -> builder.appendUninitialized(-3))
          .withMessage("length is negative: -3");
      assertThatThrownBy(() -> builder.truncate(2)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> builder.truncate(-1)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThat(finish(builder)).isEqualTo(List.of("a"));
    }
  }

  @Test
  void nullCountsAreKnownToColumnsThatWereTruncated() {
    try (FixedWidthColumnBuilder builder = integers()) {
      for (int i = 0; i < 100; i++) {
        builder.appendNull();
        builder.appendInt(i);
      }
      builder.truncate(101);
      builder.appendNull();
      try (Column column = builder.finish()) {
        assertThat(column.isNullCountKnown()).isTrue();
        assertThat(column.nullCount(device.hostStream()))
            .isEqualTo(Collections.frequency(TableRows.of(column, device), null))
            .isEqualTo(52);
      }
      builder.appendNull();
      builder.truncate(0);
      builder.appendInt(1);
      try (Column column = builder.finish()) {
        assertThat(column.isNullable()).isFalse();
      }
    }
  }

  @Test
  void rowsWithANullInANotNullColumnMakeNoTable() {
    DataType struct = DataType.struct(new DataType.Field("a", DataType.INT32, false));
    Schema schema =
        Schema.of(new DataType.Field("n", DataType.INT32, false), DataType.Field.of("s", struct));
    try (RowTableBuilder table =
        new RowTableBuilder(schema, device.hostStream(), device.hostMemory())) {
      table.columns().forEach(ColumnBuilder::appendNull);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> table.finish(1))
          .withMessage("column 'n' is NOT NULL and has 1 nulls");
      ((FixedWidthColumnBuilder) table.column(0)).appendInt(1);
      StructColumnBuilder structs = (StructColumnBuilder) table.column(1);
      structs.fields().get(0).appendNull();
      structs.appendStruct();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> table.finish(1))
          .withMessage("column 's.a' is NOT NULL and has 1 nulls");
      ((FixedWidthColumnBuilder) table.column(0)).appendInt(1);
      structs.appendNull();
      try (Table finished = table.finish(1)) {
        assertThat(device.rows(finished)).isEqualTo(List.of(Arrays.asList(1, null)));
      }
    }
  }

  @Test
  void aTruncatedBuilderIsAsBeforeWhatWasTakenBack() {
    DataType type =
        DataType.struct(
            DataType.Field.of("n", DataType.INT32),
            DataType.Field.of("l", DataType.list(DataType.STRING)));
    try (StructColumnBuilder builder = builder(StructColumnBuilder.class, type)) {
      FixedWidthColumnBuilder numbers = (FixedWidthColumnBuilder) builder.fields().get(0);
      ListColumnBuilder lists = (ListColumnBuilder) builder.fields().get(1);
      VariableWidthColumnBuilder strings = (VariableWidthColumnBuilder) lists.elements();
      for (int i = 0; i < 100; i++) {
        // A row that is left half appended, and a null, are taken back before each that stays.
        numbers.appendInt(-1);
        strings.appendBytes(utf8("taken back"));
        builder.truncate(i);
        builder.appendNull();
        builder.truncate(i);
        numbers.appendInt(i);
        strings.appendBytes(utf8("s" + i));
        strings.appendNull();
        lists.appendList();
        builder.appendStruct();
      }
      List<Object> rows = finish(builder);
      assertThat(rows).hasSize(100);
      for (int i = 0; i < 100; i++) {
        assertThat(rows.get(i)).isEqualTo(List.of(i, Arrays.asList("s" + i, null)));
      }
    }
  }

  @Test
  void aTableWhoseFinishRunsOutOfMemoryCanBeFinishedAgain() {
    Schema schema =
        Schema.of(
            DataType.Field.of("n", DataType.INT32),
            DataType.Field.of("s", DataType.STRING),
            DataType.Field.of("l", DataType.list(DataType.INT32)));
    int failures = 0;
    for (long failing = 1; failing < 20; failing++) {
      FailingResourceAdaptor memory = FailingResourceAdaptor.nth(device.hostMemory(), failing);
      try (RowTableBuilder builder = new RowTableBuilder(schema, device.hostStream(), memory)) {
        Table table;
        try {
          table = builder.finish(0);
        } catch (GpuOutOfMemoryException e) {
          failures++;
          table = builder.finish(0);
        }
        assertThat(table.rowCount()).isZero();
        table.close();
      }
    }
    // Values, offsets and bytes of the strings, offsets and elements of the lists.
    assertThat(failures).isEqualTo(5);
  }

  @Test
  void aClosedBuilderFreesWhatItHolds() {
    VariableWidthColumnBuilder builder = strings();
    builder.appendBytes(utf8("value"));
    builder.appendNull();
    assertThat(device.hostMemory().heldBytes()).isPositive();
    builder.close();
    assertThat(device.hostMemory().heldBytes()).isZero();
  }

  @Test
  void aBuilderThatRunsOutOfMemoryHoldsNothingOnceClosed() {
    DataType type = DataType.list(DataType.STRING);
    for (long limit = 0; limit <= 20_000; limit += 500) {
      MemoryResource limited = new LimitingResourceAdaptor(device.hostMemory(), limit);
      try (ListColumnBuilder builder =
          (ListColumnBuilder) ColumnBuilder.of(type, device.hostStream(), limited)) {
        assertThatThrownBy(() -> appendMuch(builder)).isInstanceOf(GpuOutOfMemoryException.class);
      }
      assertThat(device.hostMemory().heldBytes()).isZero();
    }
  }

  private static void appendMuch(ListColumnBuilder builder) {
    VariableWidthColumnBuilder elements = (VariableWidthColumnBuilder) builder.elements();
    for (int i = 0; i < 10_000; i++) {
      elements.appendBytes(utf8("element " + i));
      elements.appendNull();
      builder.appendList();
      builder.appendNull();
    }
  }

  @Test
  void dictionariesAreNotBuilt() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                ColumnBuilder.of(
                    DataType.dictionary(DataType.STRING), device.hostStream(), device.hostMemory()))
        .withMessage("dictionaries are not built element by element");
  }
}
