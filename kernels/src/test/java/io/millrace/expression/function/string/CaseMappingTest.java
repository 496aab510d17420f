// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CaseMappingTest {
  private static final int ROWS = 20_000;
  private static final int MAX_CODE_POINTS = 12;
  // Texts whose mapping depends on neighbouring characters or changes the length.
  private static final int[] SPECIAL =
      "ΑαΣΣΣσςΐΰ Μ.,'-1 İıIi ßﬁŉȺ abcXYZ ÀÉéüЖж日本😀𐐨\u0307\u0345\u00ad".codePoints().toArray();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Stream<String> plane() {
    return IntStream.range(0, 0x10000)
        .filter(point -> !Character.isSurrogate((char) point))
        .mapToObj(Character::toString);
  }

  @Test
  void theTablesMapThePlaneAsStringsDo() {
    assertMaps(CaseMapping.upper(), text -> text.toUpperCase(Locale.ROOT));
    assertMaps(CaseMapping.lower(), text -> text.toLowerCase(Locale.ROOT));
  }

  private static void assertMaps(byte[] bytes, UnaryOperator<String> map) {
    assertThat(bytes).hasSizeLessThan(6 << 10);
    ByteBuffer table = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    plane().forEach(text -> assertThat(mapped(table, text.charAt(0))).isEqualTo(map.apply(text)));
  }

  /**
   * Decodes the table as {@code string_case.cuh} does, with offsets from the table's description.
   */
  private static String mapped(ByteBuffer table, char point) {
    int block = table.get(16 + point / 64) & 0xff;
    int element = table.get(16 + 1024 + 512 + block * 64 + point % 64) & 0xff;
    if (element != 255) {
      return String.valueOf((char) (point + table.getShort(16 + 1024 + 2 * element)));
    }
    int first = table.getInt(8);
    for (int i = 0; i < table.getInt(12); i++) {
      if (table.getChar(first + 8 * i) == point) {
        String units = "";
        for (int unit = 1; unit < 4 && table.getChar(first + 8 * i + 2 * unit) != 0; unit++) {
          units += table.getChar(first + 8 * i + 2 * unit);
        }
        return units;
      }
    }
    throw new AssertionError("no expansion of " + (int) point);
  }

  /** On a GPU this takes one kernel launch: no row is left to the host. */
  @Test
  void aDeviceMapsThePlane() {
    String[] texts = plane().toArray(String[]::new);
    assertMaps(texts, 1);
  }

  @Test
  void aDeviceMapsTextsOrLeavesThemToTheHost() {
    Random numbers = random.random();
    String[] texts = new String[ROWS];
    for (int row = 0; row < ROWS; row++) {
      StringBuilder text = new StringBuilder();
      for (int i = numbers.nextInt(MAX_CODE_POINTS); i > 0; i--) {
        text.appendCodePoint(SPECIAL[numbers.nextInt(SPECIAL.length)]);
      }
      texts[row] = text.toString();
    }
    assertMaps(texts, Integer.MAX_VALUE);
  }

  private void assertMaps(String[] texts, int mostLaunches) {
    try (Table table =
        new TableBuilder().column("x", DataType.STRING, (Object[]) texts).build(device)) {
      assertMaps(table, "UPPER", texts, text -> text.toUpperCase(Locale.ROOT), mostLaunches);
      assertMaps(table, "LOWER", texts, text -> text.toLowerCase(Locale.ROOT), mostLaunches);
    }
  }

  private void assertMaps(
      Table table, String function, String[] texts, UnaryOperator<String> map, int mostLaunches) {
    Calc calc =
        Calc.of(
            table.schema(),
            Optional.empty(),
            List.of(call(function, col("x")).as("mapped")),
            ResolutionContext.DEFAULT);
    long before = device.device().launchCount();
    try (Table result = calc.apply(table, device.stream(), device.memory())) {
      if (device.isCuda()) {
        assertThat(device.device().launchCount() - before).isBetween(1L, (long) mostLaunches);
      }
      List<List<Object>> mapped = device.rows(result);
      for (int row = 0; row < texts.length; row++) {
        assertThat(mapped.get(row).get(0)).as(texts[row]).isEqualTo(map.apply(texts[row]));
      }
    }
  }
}
