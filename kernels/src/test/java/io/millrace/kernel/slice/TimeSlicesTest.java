// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.slice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.memory.Buffer;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TimeSlicesTest {
  private static final Schema NUMBERS = Schema.of(new Field("n", DataType.INT32, false));
  private static final Schema STARTS = Schema.of(new Field("n", DataType.INT64, false));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private Column times(long... times) {
    Object[] values = LongStream.of(times).boxed().toArray();
    try (Table table = new TableBuilder().column("t", DataType.INT64, values).build(device)) {
      Buffer data = table.column(0).data().orElseThrow().share();
      return new Column(DataType.timestamp(3), times.length, 0, data, null, List.of());
    }
  }

  @RowCountTest
  void rangeAndNumbersAreThoseOfEachRow(int rowCount) {
    if (rowCount == 0) {
      return;
    }
    Random numbers = random.random();
    long base = numbers.nextLong() >> 8;
    long[] times =
        LongStream.generate(() -> base + numbers.nextInt(100_000)).limit(rowCount).toArray();
    int first = numbers.nextInt(rowCount);
    long[] part = LongStream.of(times).skip(first).toArray();
    long start = LongStream.of(part).min().orElseThrow() - numbers.nextInt(50);
    try (Column all = times(times);
        Column slice = all.slice(first, part.length)) {
      assertThat(TimeSlices.range(slice, device.stream(), device.memory()))
          .isEqualTo(
              new TimeRange(
                  LongStream.of(part).min().orElseThrow(),
                  LongStream.of(part).max().orElseThrow()));
      List<Object> expected =
          LongStream.of(part).mapToObj(time -> (Object) (int) ((time - start) / 77)).toList();
      try (Table table =
          new Table(
              NUMBERS,
              List.of(TimeSlices.numbers(slice, start, 77, device.stream(), device.memory())),
              part.length)) {
        assertThat(device.rows(table).stream().map(row -> row.get(0)).toList()).isEqualTo(expected);
      }
      List<Object> starts =
          LongStream.of(part).mapToObj(time -> (Object) (time - (time - start) % 77)).toList();
      try (Column column = TimeSlices.starts(slice, start, 77, device.stream(), device.memory());
          Table table =
              new Table(
                  STARTS,
                  List.of(
                      new Column(
                          DataType.INT64,
                          part.length,
                          0,
                          column.data().orElseThrow().share(),
                          null,
                          List.of())),
                  part.length)) {
        assertThat(column.type()).isEqualTo(DataType.timestamp(3));
        assertThat(device.rows(table).stream().map(row -> row.get(0)).toList()).isEqualTo(starts);
      }
    }
  }

  @Test
  void extremeTimesAreOrdered() {
    try (Column times = times(0, Long.MIN_VALUE, 5, Long.MAX_VALUE, -1)) {
      assertThat(TimeSlices.range(times, device.stream(), device.memory()))
          .isEqualTo(new TimeRange(Long.MIN_VALUE, Long.MAX_VALUE));
    }
    try (Column times = times(-7)) {
      assertThat(TimeSlices.range(times, device.stream(), device.memory()))
          .isEqualTo(new TimeRange(-7, -7));
    }
  }

  @Test
  void nullsAndOtherTypesAreRefused() {
    try (Table table =
        new TableBuilder()
            .column("t", DataType.timestamp(3), (Object) null)
            .column("n", DataType.INT64, 1L)
            .build(device)) {
      assertThatThrownBy(
              () -> TimeSlices.range(table.column("t"), device.stream(), device.memory()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected no null among the times, got 1");
      assertThatThrownBy(
              () -> TimeSlices.range(table.column("n"), device.stream(), device.memory()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected times in milliseconds, got BIGINT");
    }
  }

  @Test
  void argumentsHaveTheFieldsAndSizesOfTheKernels() {
    CudaStructures cuda = CudaStructures.ofSources();
    assertThat(CudaSliceKernels.RangeArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("SliceRangeArguments").fields());
    assertThat(CudaSliceKernels.NumbersArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("SliceNumbersArguments").fields());
    assertThat(CudaSliceKernels.StartsArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("SliceStartsArguments").fields());
    if (device.isCuda()) {
      assertThat(device.device().loadModule("slice").constant("sizeof_SliceRangeArguments"))
          .isEqualTo(CudaSliceKernels.RangeArguments.LAYOUT.bytes());
      assertThat(device.device().loadModule("slice").constant("sizeof_SliceNumbersArguments"))
          .isEqualTo(CudaSliceKernels.NumbersArguments.LAYOUT.bytes());
      assertThat(device.device().loadModule("slice").constant("sizeof_SliceStartsArguments"))
          .isEqualTo(CudaSliceKernels.StartsArguments.LAYOUT.bytes());
    }
  }
}
