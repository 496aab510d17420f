// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.memory.Buffer;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableRows;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RecordBytesTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private List<Object> positions(RecordBytes records) {
    int count = records.count() + 1;
    Buffer positions = records.positions().share();
    try (Column column = new Column(DataType.INT32, count, 0, positions, null, List.of())) {
      return TableRows.of(column, device);
    }
  }

  private static List<Object> expected(byte[] bytes, int from) {
    List<Object> starts = new ArrayList<>(List.of(0));
    for (int i = from; i < bytes.length; i++) {
      if (bytes[i] == '\n' || i + 1 == bytes.length) {
        starts.add(i + 1 - from);
      }
    }
    return starts;
  }

  @RowCountTest
  void linesBeginBehindLineFeeds(int size) {
    Random numbers = random.random();
    byte[] bytes = new byte[size];
    numbers.nextBytes(bytes);
    int spacing = 1 + numbers.nextInt(100);
    for (int i = 0; i < size; i++) {
      if (numbers.nextInt(spacing) == 0) {
        bytes[i] = '\n';
      }
    }
    int from = size == 0 ? 0 : numbers.nextInt(Math.min(size, 9));
    try (Buffer all = RecordLines.buffer(bytes, device);
        Buffer part = all.slice(from, size - from);
        RecordBytes lines = RecordBytes.lines(part, device.stream(), device.memory())) {
      assertThat(positions(lines)).isEqualTo(expected(bytes, from));
    }
  }

  @Test
  void eachByteMayBeALine() {
    byte[] bytes = "\n".repeat(5000).getBytes(StandardCharsets.US_ASCII);
    try (Buffer all = RecordLines.buffer(bytes, device);
        RecordBytes lines = RecordBytes.lines(all, device.stream(), device.memory())) {
      assertThat(lines.count()).isEqualTo(5000);
      assertThat(positions(lines)).isEqualTo(expected(bytes, 0));
    }
  }

  @Test
  void structuresAreThoseOfTheKernels() {
    assertThat(CudaLineKernels.Arguments.LAYOUT.fields())
        .isEqualTo(CudaStructures.ofSources().layout("LinesArguments").fields());
    if (device.isCuda()) {
      assertThat(device.device().loadModule("lines").constant("sizeof_LinesArguments"))
          .isEqualTo(CudaLineKernels.Arguments.LAYOUT.bytes());
    }
  }
}
