// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.hash;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class BinaryRowHashTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static int hashOfRow(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    boolean isInline = bytes.length <= 7;
    int variable = isInline ? 0 : (bytes.length + 7) / 8 * 8;
    ByteBuffer row = ByteBuffer.allocate(16 + variable).order(ByteOrder.LITTLE_ENDIAN);
    if (isInline) {
      row.position(8).put(bytes).put(15, (byte) (0x80 | bytes.length));
    } else {
      row.putInt(8, bytes.length).putInt(12, 16).position(16).put(bytes);
    }
    int hash = 42;
    for (int at = 0; at < row.capacity(); at += Integer.BYTES) {
      hash = MurmurHash3.mixWord(hash, row.getInt(at));
    }
    return MurmurHash3.finish(hash, row.capacity());
  }

  @Test
  void oneStringOfEachLengthIsHashedAsTheBytesOfItsRow() {
    List<String> texts =
        IntStream.concat(IntStream.range(0, 70), IntStream.of(255, 256, 257, 1_000))
            .mapToObj(length -> text(length))
            .toList();
    try (Table table =
            new TableBuilder()
                .column(new Field("text", DataType.STRING, false), texts)
                .buildOnHost(device);
        AccessScope scope = AccessScope.on(device.hostStream())) {
      int[] hashes = new int[texts.size()];
      KeyHash.of(
              HashFunction.FLINK_BINARY_ROW,
              false,
              List.of(new ColumnReader(table.column(0), scope)),
              hashes.length)
          .hash(0, hashes.length, hashes);
      assertThat(hashes).isEqualTo(texts.stream().mapToInt(BinaryRowHashTest::hashOfRow).toArray());
    }
  }

  private String text(int length) {
    return random
        .random()
        .ints(length, 'a', 'z' + 1)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
