// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.device.HostMemory;
import io.millrace.format.record.RecordError;
import io.millrace.format.text.Base64Text;
import io.millrace.format.text.NumberText;
import io.millrace.format.text.TextCursor;

/**
 * JSON text (RFC 8259): white space, strings, and values that nobody asked for. The twin of
 * json_text.cuh. Used by one thread.
 */
final class JsonText {
  static final int NO_CODE_POINT = -1;

  static final long TRUE = 0x65757274L;
  static final long FALSE = 0x65736c6166L;
  static final long NULL = 0x6c6c756eL;
  static final int TRUE_BYTES = 4;
  static final int FALSE_BYTES = 5;
  static final int NULL_BYTES = 4;

  /** The result of {@link #base64Bytes} if there is no Base64. */
  static final int NO_BYTES = -1;

  private static final int BASE64_BITS = 6;
  private static final int DEPTH = 1000;
  private static final int REPLACEMENT = '?';

  final TextCursor text = new TextCursor();
  private final TextCursor part = new TextCursor();
  private final NumberText number = new NumberText();
  private final Base64Text base64 = new Base64Text();
  private final boolean[] isObject = new boolean[DEPTH];
  private RecordError error;

  // Of the last value that was skipped.
  private int elements;

  // Of the last string.
  private int start;
  private int writtenBytes;
  private int bytes;
  private boolean hasEscapes;

  void reset(long address, int from, int to) {
    text.reset(address, from, to);
    error = RecordError.VALID;
  }

  RecordError error() {
    return error;
  }

  boolean fail(RecordError why) {
    error = why;
    return false;
  }

  /** Where the bytes of the last string are. */
  int start() {
    return start;
  }

  /** Bytes of the last string as it is written, without quotation marks. */
  int writtenBytes() {
    return writtenBytes;
  }

  /** Bytes of the last string with its escapes resolved. */
  int bytes() {
    return bytes;
  }

  boolean hasEscapes() {
    return hasEscapes;
  }

  /** The next byte that is not white space, which is not taken. */
  int skipSpace() {
    int next = text.peek();
    while (next == ' ' || next == '\n' || next == '\r' || next == '\t') {
      text.next();
      next = text.peek();
    }
    return next;
  }

  // The highest bit of each byte that is not a plain ASCII character of a string.
  private static long special(long word) {
    return TextCursor.bytesEqual(word, '"')
        | TextCursor.bytesEqual(word, '\\')
        | TextCursor.controlBytes(word)
        | TextCursor.notAscii(word);
  }

  private static boolean isSpecial(int next) {
    return next == '"' || next == '\\' || next < ' ' || next >= 0x80;
  }

  // Goes on to the next special byte; false if the text ends before.
  private boolean skipPlain() {
    int at = text.at();
    int end = text.end();
    for (; end - at >= Long.BYTES; at += Long.BYTES) {
      long special = special(HostMemory.getLong(text.address() + at));
      if (special != 0) {
        text.moveTo(at + Long.numberOfTrailingZeros(special) / Byte.SIZE);
        return true;
      }
    }
    while (at < end && !isSpecial(HostMemory.getByte(text.address() + at) & 0xff)) {
      at++;
    }
    text.moveTo(at);
    return at < end;
  }

  /** Reads a string behind its opening quotation mark, up to its closing one. */
  boolean readString() {
    start = text.at();
    hasEscapes = false;
    int saved = 0;
    while (skipPlain()) {
      int from = text.at();
      int next = text.peek();
      if (next == '"') {
        writtenBytes = from - start;
        bytes = writtenBytes - saved;
        text.next();
        return true;
      }
      if (next == '\\') {
        text.next();
        int codePoint = readEscape(text);
        if (codePoint == NO_CODE_POINT) {
          return fail(RecordError.NO_JSON);
        }
        saved += text.at() - from - utf8Bytes(codePoint);
        hasEscapes = true;
      } else if (next < ' ') {
        return fail(RecordError.NO_JSON);
      } else if (!text.takeUtf8()) {
        text.moveTo(from);
        return fail(RecordError.NO_UTF8);
      }
    }
    return fail(RecordError.NO_JSON);
  }

  /** The code point of an escape behind its backslash; {@link #NO_CODE_POINT} if there is none. */
  static int readEscape(TextCursor text) {
    return switch (text.next()) {
      case '"' -> '"';
      case '\\' -> '\\';
      case '/' -> '/';
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> readCodePoint(text);
      default -> NO_CODE_POINT;
    };
  }

  private static int readCodePoint(TextCursor text) {
    int first = readHex(text);
    if (first < Character.MIN_SURROGATE || first > Character.MAX_SURROGATE) {
      return first;
    }
    int behind = text.at();
    if (first <= Character.MAX_HIGH_SURROGATE && text.take('\\') && text.take('u')) {
      int second = readHex(text);
      if (second >= Character.MIN_LOW_SURROGATE && second <= Character.MAX_LOW_SURROGATE) {
        return Character.toCodePoint((char) first, (char) second);
      }
    }
    text.moveTo(behind);
    return REPLACEMENT;
  }

  private static int readHex(TextCursor text) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
      int digit = Character.digit((char) text.next(), 16);
      if (digit < 0) {
        return NO_CODE_POINT;
      }
      value = value << 4 | digit;
    }
    return value;
  }

  static int utf8Bytes(int codePoint) {
    return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
  }

  /** Writes the bytes of a string with its escapes resolved. The cursor is at its first byte. */
  static void resolveEscapes(TextCursor text, int bytes, long target) {
    for (int i = 0; i < bytes; ) {
      int next = text.next();
      if (next != '\\') {
        HostMemory.putByte(target + i++, (byte) next);
      } else {
        i += putUtf8(readEscape(text), target + i);
      }
    }
  }

  private static int putUtf8(int codePoint, long target) {
    int width = utf8Bytes(codePoint);
    int rest = codePoint;
    for (int i = width - 1; i > 0; i--) {
      HostMemory.putByte(target + i, (byte) (0x80 | (rest & 0x3f)));
      rest >>= 6;
    }
    int lead = width == 1 ? 0 : 0xf00 >> width & 0xff;
    HostMemory.putByte(target, (byte) (lead | rest));
    return width;
  }

  private static int nextCharacter(TextCursor text) {
    int next = text.next();
    return next == '\\' ? readEscape(text) : next;
  }

  /** The bytes that the last string stands for in Base64; -1 if it is not Base64 with padding. */
  int base64Bytes() {
    part.reset(text, start, start + writtenBytes);
    base64.clear();
    while (!part.isAtEnd()) {
      if (!base64.add(nextCharacter(part))) {
        return NO_BYTES;
      }
    }
    return base64.isComplete() ? base64.bytes() : NO_BYTES;
  }

  /** Writes the bytes that a string of Base64 stands for. The cursor is at its first byte. */
  static void decodeBase64(TextCursor text, int bytes, long target) {
    int word = 0;
    int bits = 0;
    for (int i = 0; i < bytes; ) {
      word = word << BASE64_BITS | Base64Text.digit(nextCharacter(text));
      bits += BASE64_BITS;
      if (bits >= Byte.SIZE) {
        bits -= Byte.SIZE;
        HostMemory.putByte(target + i++, (byte) (word >> bits));
      }
    }
  }

  private boolean skipScalar(int next) {
    boolean valid =
        switch (next) {
          case '"' -> {
            text.next();
            yield readString();
          }
          case 't' -> text.takeWord(TRUE, TRUE_BYTES);
          case 'f' -> text.takeWord(FALSE, FALSE_BYTES);
          case 'n' -> text.takeWord(NULL, NULL_BYTES);
          default -> (TextCursor.isDigit(next) || next == '-') && number.read(text, true);
        };
    if (!valid && error == RecordError.VALID) {
      error = RecordError.NO_JSON;
    }
    return valid;
  }

  private boolean skipName() {
    if (skipSpace() != '"') {
      return fail(RecordError.NO_JSON);
    }
    text.next();
    if (!readString()) {
      return false;
    }
    if (skipSpace() != ':') {
      return fail(RecordError.NO_JSON);
    }
    text.next();
    return true;
  }

  /** As {@link io.millrace.format.record.RecordFormat#findElements}. */
  void findElements(TextCursor list, int count, long starts, long ends) {
    reset(list.address(), list.at(), list.end());
    boolean isArray = text.peek() == '[';
    for (int i = 0; i < count; i++) {
      if (isArray) {
        text.next();
      }
      int next = skipSpace();
      HostMemory.putInt(starts + (long) i * Integer.BYTES, text.at());
      skipValue(next);
      HostMemory.putInt(ends + (long) i * Integer.BYTES, text.at());
      skipSpace();
    }
  }

  /** The elements or members that the last value that was skipped has itself. */
  int elements() {
    return elements;
  }

  /** Skips a value with all values in it. {@code first} is its first byte, which is next. */
  boolean skipValue(int first) {
    elements = 0;
    int depth = 0;
    for (int next = first; ; next = skipSpace()) {
      if (next == '{' || next == '[') {
        if (depth == DEPTH) {
          return fail(RecordError.TOO_DEEP);
        }
        isObject[depth++] = next == '{';
        text.next();
        if (skipSpace() != (next == '{' ? '}' : ']')) {
          if (depth == 1) {
            elements = 1;
          }
          if (next == '{' && !skipName()) {
            return false;
          }
          continue;
        }
        depth--;
        text.next();
      } else if (!skipScalar(next)) {
        return false;
      }
      depth = skipEnds(depth);
      if (depth <= 0) {
        return depth == 0;
      }
    }
  }

  // Skips what ends values, up to a further value; the depth there, 0 if there is none, or -1 if
  // the text is malformed.
  private int skipEnds(int depth) {
    for (int left = depth; left > 0; left--) {
      boolean inObject = isObject[left - 1];
      int next = skipSpace();
      if (next != ',' && next != (inObject ? '}' : ']')) {
        fail(RecordError.NO_JSON);
        return -1;
      }
      text.next();
      if (next == ',') {
        if (left == 1) {
          elements++;
        }
        return inObject && !skipName() ? -1 : left;
      }
    }
    return 0;
  }
}
