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
 * The case mapping of all code points of the Basic Multilingual Plane, for the device functions
 * {@code upper} and {@code lower}. It is made from what this JVM's strings do by the rules of no
 * language, so that a device has the Unicode version of the JVM, as the host and Flink have.
 *
 * <p>The table, little-endian: the first and the last code point beyond the plane that has a case,
 * where the expansions begin, and how many there are, each of 32 bits; the number of the block of
 * each 64 code points; 256 differences of 16 bits; the blocks, of which each element is the number
 * of a difference, or {@value #EXPANDED}; the expansions in the order of their code points: the
 * code point and what it becomes, four UTF-16 units with zeros behind. {@code string_case.cuh}
 * reads it.
 */
final class CaseMapping {
  /**
   * What a result may have more bytes than its text; a row that needs more is left to the host. Few
   * code points get longer, the dotted capital I in lower case among them.
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
