// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.pattern;

import io.millrace.device.HostMemory;
import io.millrace.expression.error.ExpressionException;
import io.millrace.text.PatternBytes;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A LIKE pattern. {@code %} matches any characters; as in Flink, {@code _} matches one character
 * that is not a line terminator of {@link java.util.regex.Pattern}. The twin of {@code like.cu}.
 * Immutable.
 */
final class LikePattern {
  private static final byte MANY = (byte) 0xff;
  private static final byte ONE = (byte) 0xfe;

  private enum Kind {
    EQUAL("like_equal"),
    PREFIX("like_prefix"),
    SUFFIX("like_suffix"),
    CONTAINS("like_contains"),
    WILDCARDS("like_wildcards");

    private final String deviceFunction;

    Kind(String deviceFunction) {
      this.deviceFunction = deviceFunction;
    }
  }

  private final Kind kind;
  private final byte[] bytes;

  private LikePattern(Kind kind, byte[] bytes) {
    this.kind = kind;
    this.bytes = bytes;
  }

  /** Compiles a pattern without an escape character. */
  static LikePattern of(String pattern) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    pattern.codePoints().forEach(codePoint -> append(bytes, codePoint));
    return of(bytes.toByteArray());
  }

  /**
   * Compiles a pattern in which {@code escape} quotes a wildcard or itself.
   *
   * @throws ExpressionException if {@code escape} is not one character or precedes any other
   *     character
   */
  static LikePattern of(String pattern, String escape) {
    if (escape.isEmpty() && pattern.indexOf('_') < 0) {
      return of(pattern);
    }
    if (escape.length() != 1 || escape.charAt(0) == 0) {
      throw new ExpressionException("invalid escape character '" + escape + "'");
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    boolean escaped = false;
    for (int codePoint : pattern.codePoints().toArray()) {
      if (escaped) {
        if (codePoint != '%' && codePoint != '_' && codePoint != escape.charAt(0)) {
          throw invalidSequence(pattern);
        }
        appendLiteral(bytes, codePoint);
        escaped = false;
      } else if (codePoint == escape.charAt(0)) {
        escaped = true;
      } else {
        append(bytes, codePoint);
      }
    }
    if (escaped) {
      throw invalidSequence(pattern);
    }
    return of(bytes.toByteArray());
  }

  private static ExpressionException invalidSequence(String pattern) {
    return new ExpressionException("invalid escape sequence in '" + pattern + "'");
  }

  private static void append(ByteArrayOutputStream bytes, int codePoint) {
    switch (codePoint) {
      case '%' -> bytes.write(MANY);
      case '_' -> bytes.write(ONE);
      default -> appendLiteral(bytes, codePoint);
    }
  }

  private static void appendLiteral(ByteArrayOutputStream bytes, int codePoint) {
    bytes.writeBytes(Character.toString(codePoint).getBytes(StandardCharsets.UTF_8));
  }

  private static LikePattern of(byte[] bytes) {
    int start = bytes.length > 0 && bytes[0] == MANY ? 1 : 0;
    int end =
        bytes.length > start && bytes[bytes.length - 1] == MANY ? bytes.length - 1 : bytes.length;
    for (int i = start; i < end; i++) {
      if (bytes[i] == MANY || bytes[i] == ONE) {
        return new LikePattern(Kind.WILDCARDS, bytes);
      }
    }
    if (start == end && start > 0) {
      return new LikePattern(Kind.PREFIX, new byte[0]);
    }
    boolean open = end < bytes.length;
    Kind kind =
        start > 0 ? (open ? Kind.CONTAINS : Kind.SUFFIX) : (open ? Kind.PREFIX : Kind.EQUAL);
    return new LikePattern(kind, Arrays.copyOfRange(bytes, start, end));
  }

  /** The name of the device function for this kind of pattern. */
  String deviceFunction() {
    return kind.deviceFunction;
  }

  /** The constant of the device function: the length and the bytes. */
  byte[] constant() {
    return ByteBuffer.allocate(Integer.BYTES + bytes.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(bytes.length)
        .put(bytes)
        .array();
  }

  /** Whether a UTF-8 string matches. */
  boolean matches(long address, int length) {
    int last = length - bytes.length;
    return switch (kind) {
      case EQUAL -> last == 0 && isAt(address);
      case PREFIX -> last >= 0 && isAt(address);
      case SUFFIX -> last >= 0 && isAt(address + last);
      case CONTAINS -> isWithin(address, last);
      case WILDCARDS -> matchesWildcards(address, length);
    };
  }

  private boolean isAt(long address) {
    for (int i = 0; i < bytes.length; i++) {
      if (HostMemory.getByte(address + i) != bytes[i]) {
        return false;
      }
    }
    return true;
  }

  private boolean isWithin(long address, int last) {
    for (int i = 0; i <= last; i++) {
      if (HostMemory.getByte(address + i) == bytes[0] && isAt(address + i)) {
        return true;
      }
    }
    return false;
  }

  // Backtracks to the last wildcard only: the text between two wildcards never needs a later match
  // than its first.
  private boolean matchesWildcards(long address, int length) {
    int at = 0;
    int inPattern = 0;
    int afterMany = -1;
    int takenUntil = 0;
    while (at < length) {
      byte expected = inPattern < bytes.length ? bytes[inPattern] : 0;
      boolean isMany = inPattern < bytes.length && expected == MANY;
      int step = isMany || inPattern == bytes.length ? 0 : step(expected, address, length, at);
      if (isMany) {
        afterMany = ++inPattern;
        takenUntil = at;
      } else if (step > 0) {
        at += step;
        inPattern++;
      } else if (afterMany >= 0) {
        at = ++takenUntil;
        inPattern = afterMany;
      } else {
        return false;
      }
    }
    while (inPattern < bytes.length && bytes[inPattern] == MANY) {
      inPattern++;
    }
    return inPattern == bytes.length;
  }

  private static int step(byte expected, long address, int length, int at) {
    if (expected == ONE) {
      return PatternBytes.codePointButLineTerminator(address, length, at);
    }
    return HostMemory.getByte(address + at) == expected ? 1 : 0;
  }
}
