// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Random JSON texts for functions of SQL: nested values with few names, so that paths lead to some
 * of them, names that occur twice, escapes, numbers in all notations, white space; and texts that
 * are damaged or that go on behind a value.
 */
public final class RandomJsonTexts {
  private static final int MAX_DEPTH = 5;
  private static final List<String> NAMES = List.of("a", "b", "c", "key");
  private static final List<String> ODD_NAMES =
      List.of("a b", "é", "", "\\u0061", "k\\/", "😀", "B", "a\\\"b", "\uffee");
  private static final List<String> SCALARS =
      List.of(
          "1",
          "0",
          "-1",
          "-0",
          "2147483647",
          "2147483648",
          "-2147483648",
          "12345678901234567890",
          "1.5",
          "-0.0",
          "0.00",
          "0.0000001",
          "0.000001",
          "0.00000000",
          "1e5",
          "1E-2",
          "123.4560",
          "9007199254740993.0",
          "0.1",
          "1e-400",
          "100000000000000000000000.5",
          "1e99999",
          "1.0e0",
          "3.14159265358979",
          "-1.50e1",
          "true",
          "false",
          "null",
          "\"\"",
          "\"x\"",
          "\"a b\"",
          "\"\\u00e9\\/\\n\"",
          "\"\\ud83d\\ude00\"",
          "\"\\ud800\"",
          "\"\\ud800\\u0041\"",
          "\"é日😀\"",
          "\"q\\\"uote\"",
          "\"\\u0001\\u007f<>&'\u2028\"",
          "\"null\"");
  private static final List<String> SPACES = List.of(" ", "\n\t", "\r ");
  private static final List<String> TAILS =
      List.of("x", " x", "}", "1", ",", "é", "$", "[", "\"", "\u007f", "_");
  private static final String DAMAGES = "{}[],:\"\\ 01-.eEtfnu/x";

  private final Random random;

  public RandomJsonTexts(Random random) {
    this.random = random;
  }

  /** A text; two in three are JSON. */
  public String next() {
    String text = space() + value(random.nextInt(4) == 0 ? MAX_DEPTH : 0) + space();
    if (random.nextInt(3) == 0) {
      text = "{\"a\":" + value(0) + ",\"b\":[" + value(1) + "," + value(1) + "]}";
    }
    return switch (random.nextInt(6)) {
      case 0 -> damaged(text);
      case 1 -> text + TAILS.get(random.nextInt(TAILS.size()));
      default -> text;
    };
  }

  private String damaged(String text) {
    int at = random.nextInt(text.length());
    return random.nextBoolean()
        ? text.substring(0, at)
        : text.substring(0, at)
            + DAMAGES.charAt(random.nextInt(DAMAGES.length()))
            + text.substring(at + 1);
  }

  /** A text as UTF-8 in which one byte may be any other, so that it may be malformed. */
  public byte[] nextBytes() {
    byte[] bytes = next().getBytes(StandardCharsets.UTF_8);
    if (bytes.length > 0 && random.nextInt(8) == 0) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
    }
    return bytes;
  }

  private String space() {
    return random.nextInt(4) == 0 ? SPACES.get(random.nextInt(SPACES.size())) : "";
  }

  private String value(int depth) {
    int kind = depth >= MAX_DEPTH ? 0 : random.nextInt(5);
    if (kind < 3) {
      return SCALARS.get(random.nextInt(SCALARS.size()));
    }
    boolean isObject = kind == 3;
    String values =
        IntStream.range(0, random.nextInt(4))
            .mapToObj(i -> (isObject ? name() : "") + space() + value(depth + 1) + space())
            .collect(Collectors.joining(","));
    return isObject ? "{" + space() + values + "}" : "[" + space() + values + "]";
  }

  private String name() {
    List<String> names = random.nextInt(3) == 0 ? ODD_NAMES : NAMES;
    return space() + "\"" + names.get(random.nextInt(names.size())) + "\"" + space() + ":";
  }
}
