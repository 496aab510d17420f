// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Case mapping of all code points of the Basic Multilingual Plane for the device functions {@code
 * upper} and {@code lower}. It is built from this JVM's locale-independent mapping, so that the
 * device has the same Unicode version as the host and Flink.
 *
 * <p>The table is little-endian: the first and the last code point beyond the plane that has a
 * case, the offset of the expansions and their number, 32 bits each; the block number of each 64
 * code points; 256 differences of 16 bits; the blocks, whose elements are the number of a
 * difference or {@value #EXPANDED}; the expansions by ascending code point: the code point and its
 * mapping, four UTF-16 units padded with zeros. {@code string_case.cuh} reads the table.
 */
final class CaseMapping {
  /**
   * Number of bytes by which a result may exceed its input on the device; rows that grow more are
   * evaluated on the host. Few code points grow, for example the dotted capital I in lower case.
   */
  static final int GROWTH = 8;

  private static final int PLANE = 0x10000;
  private static final int BLOCK = 64;
  private static final int HEADER_BYTES = 4 * Integer.BYTES;
  private static final int DIFFERENCES = 256;
  private static final int EXPANDED = DIFFERENCES - 1;
  private static final int UNITS_OF_EXPANSION = 4;

  private final Map<Integer, Integer> differences = new TreeMap<>(Map.of(0, 0));
  private final Map<List<Byte>, Integer> blocks = new LinkedHashMap<>();
  private final Map<Integer, String> expansions = new TreeMap<>();
  private final UnaryOperator<String> map;

  private CaseMapping(UnaryOperator<String> map) {
    this.map = map;
  }

  private static final class Tables {
    static final byte[] UPPER = new CaseMapping(text -> text.toUpperCase(Locale.ROOT)).table();
    static final byte[] LOWER = new CaseMapping(text -> text.toLowerCase(Locale.ROOT)).table();
  }

  static byte[] upper() {
    return Tables.UPPER.clone();
  }

  static byte[] lower() {
    return Tables.LOWER.clone();
  }

  private byte[] table() {
    byte[] blockNumbers = new byte[PLANE / BLOCK];
    for (int first = 0; first < PLANE; first += BLOCK) {
      Byte[] elements = new Byte[BLOCK];
      for (int i = 0; i < BLOCK; i++) {
        elements[i] = (byte) element(first + i);
      }
      int number = blocks.computeIfAbsent(List.of(elements), block -> blocks.size());
      blockNumbers[first / BLOCK] = (byte) number;
    }
    if (blocks.size() > DIFFERENCES) {
      throw new IllegalStateException(blocks.size() + " blocks of code points have a case");
    }
    int size =
        HEADER_BYTES + blockNumbers.length + DIFFERENCES * Short.BYTES + blocks.size() * BLOCK;
    int expansionBytes = expansions.size() * UNITS_OF_EXPANSION * Short.BYTES;
    ByteBuffer table = ByteBuffer.allocate(size + expansionBytes).order(ByteOrder.LITTLE_ENDIAN);
    putWideCodePoints(table);
    table.putInt(size).putInt(expansions.size()).put(blockNumbers);
    short[] numbered = new short[DIFFERENCES];
    differences.forEach((difference, number) -> numbered[number] = difference.shortValue());
    for (short difference : numbered) {
      table.putShort(difference);
    }
    blocks.keySet().forEach(block -> block.forEach(table::put));
    expansions.forEach((codePoint, text) -> putExpansion(table, codePoint, text));
    return table.array();
  }

  private static void putExpansion(ByteBuffer table, int codePoint, String text) {
    char[] units = Arrays.copyOf(text.toCharArray(), UNITS_OF_EXPANSION - 1);
    table.putShort((short) codePoint);
    for (char unit : units) {
      table.putChar(unit);
    }
  }

  private int element(int codePoint) {
    if (Character.isSurrogate((char) codePoint)) {
      return 0;
    }
    String mapped = map.apply(Character.toString(codePoint));
    if (mapped.length() == 1) {
      int difference = (short) (mapped.charAt(0) - codePoint);
      if (differences.size() < EXPANDED) {
        differences.putIfAbsent(difference, differences.size());
      }
      if (differences.containsKey(difference)) {
        return differences.get(difference);
      }
    }
    expansions.put(codePoint, mapped);
    return EXPANDED;
  }

  private void putWideCodePoints(ByteBuffer table) {
    List<Integer> cased = new ArrayList<>();
    for (int codePoint = PLANE; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
      if (Character.isLetter(codePoint)) {
        String text = Character.toString(codePoint);
        if (!map.apply(text).equals(text)) {
          cased.add(codePoint);
        }
      }
    }
    table.putInt(cased.isEmpty() ? PLANE : cased.get(0));
    table.putInt(cased.isEmpty() ? 0 : cased.get(cased.size() - 1));
  }
}
