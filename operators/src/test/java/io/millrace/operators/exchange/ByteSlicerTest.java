// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ByteSlicerTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT32, false), Field.of("text", DataType.STRING));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static List<List<Object>> rows(int count, int textLength) {
    return IntStream.range(0, count)
        .mapToObj(row -> List.<Object>of(row, "x".repeat(textLength)))
        .toList();
  }

  private record Slices(List<Long> bytes, List<List<Object>> rows) {}

  private Slices slice(List<List<Object>> rows, int start, int count, long maximumBytes) {
    Slices slices = new Slices(new ArrayList<>(), new ArrayList<>());
    try (Table table = TableBuilder.ofRows(SCHEMA, rows).buildOnHost(device)) {
      new ByteSlicer(maximumBytes, device.hostStream())
          .slice(
              table,
              start,
              count,
              (slice, bytes) -> {
                slices.bytes.add(bytes);
                slices.rows.addAll(TableRows.ofHost(slice, device.hostStream()));
                slice.close();
              });
    }
    return slices;
  }

  @Test
  void slicesKeepTheOrderAndTheLimit() {
    List<List<Object>> rows = rows(1_000, 40);
    Slices slices = slice(rows, 100, 800, 8_000);
    assertThat(slices.rows).isEqualTo(rows.subList(100, 900));
    assertThat(slices.bytes).hasSizeBetween(5, 16).allSatisfy(n -> assertThat(n).isLessThan(8_001));
  }

  @Test
  void aTableThatFitsStaysWhole() {
    assertThat(slice(rows(1_000, 40), 0, 1_000, 1 << 20).bytes).hasSize(1);
  }

  @Test
  void noRowsGiveNoSlice() {
    assertThat(slice(rows(3, 1), 1, 0, 1 << 20).bytes).isEmpty();
  }

  @Test
  void aSingleRowOfAnySizeIsEmitted() {
    Slices slices = slice(rows(3, 5_000), 0, 3, 1_000);
    assertThat(slices.rows).hasSize(3);
    assertThat(slices.bytes).hasSize(3).allSatisfy(n -> assertThat(n).isGreaterThan(5_000));
  }
}
