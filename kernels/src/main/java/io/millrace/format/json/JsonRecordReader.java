// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.device.HostMemory;
import io.millrace.format.json.JsonKernels.Target;
import io.millrace.format.text.FloatingPoint;
import io.millrace.format.text.IsoTime;
import io.millrace.format.text.NumberText;
import io.millrace.format.text.TextCursor;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the members of a JSON object into the columns of a row. The twin of json_value.cuh. Used by
 * one thread.
 */
final class JsonRecordReader implements AutoCloseable {
  static final int HAS_ESCAPES = 1 << 31;

  private static final int NO_FIELD = -1;
  private static final int LONGEST_SCALAR = 64;
  private static final long NAN = 0x4e614eL;
  private static final int NAN_BYTES = 3;
  private static final long INFINITY = 0x7974696e69666e49L;

  private final JsonText json = new JsonText();
  private final TextCursor text = json.text;
  private final TextCursor part = new TextCursor();
  private final NumberText number = new NumberText();
  private final IsoTime time = new IsoTime();
  private final long copy = HostMemory.allocate(LONGEST_SCALAR);
  private final boolean exact;
  private final JsonField[] fields;
  private final Target[] targets;
  private final boolean[] requires;
  private final boolean[] seen;
  private final boolean[] present;
  private int row;
  private int field;
  private boolean undecided;

  /** Leaves floating-point numbers undecided that a GPU leaves so. */
  JsonRecordReader(JsonFields fields, List<Target> targets) {
    this(fields, targets, false);
  }

  /** Decides all floating-point numbers. */
  static JsonRecordReader exact(JsonFields fields, List<Target> targets) {
    return new JsonRecordReader(fields, targets, true);
  }

  private JsonRecordReader(JsonFields fields, List<Target> targets, boolean exact) {
    this.exact = exact;
    this.fields = new JsonField[fields.size()];
    this.requires = new boolean[fields.size()];
    for (int i = 0; i < fields.size(); i++) {
      this.fields[i] = fields.get(i);
      requires[i] = fields.requires(i);
    }
    this.targets = targets.toArray(Target[]::new);
    this.seen = new boolean[fields.size()];
    this.present = new boolean[fields.size()];
  }

  /** Whether the last record has the field, which is not null. */
  boolean isPresent(int index) {
    return present[index];
  }

  /**
   * Reads the record from {@code start} to {@code end}, counted from {@code address}, into a row;
   * {@link JsonError#word}.
   */
  long read(long address, int start, int end, int intoRow) {
    json.reset(address, start, end);
    row = intoRow;
    field = 0;
    undecided = false;
    Arrays.fill(seen, false);
    Arrays.fill(present, false);
    if (!readRecord()) {
      Arrays.fill(present, false);
    } else if (undecided) {
      json.fail(JsonError.UNDECIDED);
    }
    return json.error().word(field, Math.min(text.at(), end) - start);
  }

  private boolean readRecord() {
    int next = json.skipSpace();
    if (next == TextCursor.END_OF_TEXT) {
      return json.fail(JsonError.BLANK);
    }
    if (next != '{') {
      return json.skipValue(next)
          && json.fail(
              json.skipSpace() == TextCursor.END_OF_TEXT ? JsonError.NO_OBJECT : JsonError.MORE);
    }
    text.next();
    present[0] = true;
    if (!readMembers()) {
      return false;
    }
    return json.skipSpace() == TextCursor.END_OF_TEXT || json.fail(JsonError.MORE);
  }

  private boolean readMembers() {
    int object = 0;
    int expected = fields[0].firstChild();
    boolean first = true;
    for (; ; ) {
      int next = json.skipSpace();
      text.next();
      if (next == '}') {
        if (requires[object] && !hasRequired(fields[object])) {
          return false;
        }
        if (object == 0) {
          return true;
        }
        expected = object + 1;
        object = fields[object].parent();
        first = false;
        continue;
      }
      if (!first) {
        if (next != ',') {
          return json.fail(JsonError.MALFORMED);
        }
        next = json.skipSpace();
        text.next();
      }
      first = false;
      if (next != '"') {
        return json.fail(JsonError.MALFORMED);
      }
      int child = readName(fields[object], expected);
      if (json.error() != JsonError.VALID) {
        return false;
      }
      if (json.skipSpace() != ':') {
        return json.fail(JsonError.MALFORMED);
      }
      text.next();
      next = json.skipSpace();
      if (child == NO_FIELD) {
        if (!json.skipValue(next)) {
          return false;
        }
        continue;
      }
      expected = child + 1;
      field = child;
      if (seen[child]) {
        return json.fail(JsonError.DUPLICATE);
      }
      seen[child] = true;
      if (next == '{' && fields[child].kind() == JsonType.OBJECT) {
        text.next();
        present[child] = true;
        object = child;
        expected = fields[child].firstChild();
        first = true;
      } else if (!readScalar(child, next)) {
        return false;
      }
    }
  }

  private boolean hasRequired(JsonField object) {
    for (int i = object.firstChild(); i < object.firstChild() + object.children(); i++) {
      if (fields[i].isRequired() && !seen[i]) {
        field = i;
        return json.fail(JsonError.MISSING);
      }
    }
    return true;
  }

  private int readName(JsonField object, int expected) {
    int last = object.firstChild() + object.children();
    if (expected < last && fields[expected].name().takeQuoted(text)) {
      return expected;
    }
    if (!json.readString()) {
      return NO_FIELD;
    }
    for (int i = object.firstChild(); i < last; i++) {
      if (isLastName(fields[i].name())) {
        return i;
      }
    }
    return NO_FIELD;
  }

  private boolean isLastName(JsonName name) {
    if (name.bytes() != json.bytes()) {
      return false;
    }
    part.reset(text, json.start(), json.start() + json.writtenBytes());
    if (!json.hasEscapes()) {
      return name.isNext(part);
    }
    long resolved = HostMemory.allocate(json.bytes());
    try {
      JsonText.resolveEscapes(part, json.bytes(), resolved);
      part.reset(resolved, 0, json.bytes());
      return name.isNext(part);
    } finally {
      HostMemory.free(resolved);
    }
  }

  private boolean readScalar(int index, int next) {
    JsonField into = fields[index];
    Target target = targets[index];
    if (next == '"') {
      text.next();
      if (!readStringValue(into, target)) {
        return false;
      }
    } else if (TextCursor.isDigit(next) || next == '-') {
      if (!readNumberValue(into, target)) {
        return false;
      }
    } else if (next == 'n') {
      if (!text.takeWord(JsonText.NULL, JsonText.NULL_BYTES)) {
        return json.fail(JsonError.MALFORMED);
      }
      return into.nullable() || json.fail(JsonError.UNEXPECTED_NULL);
    } else if (next == 't' || next == 'f') {
      boolean isLiteral =
          next == 't'
              ? text.takeWord(JsonText.TRUE, JsonText.TRUE_BYTES)
              : text.takeWord(JsonText.FALSE, JsonText.FALSE_BYTES);
      if (!isLiteral) {
        return json.fail(JsonError.MALFORMED);
      }
      if (into.kind() != JsonType.BOOL) {
        return json.fail(JsonError.WRONG_TYPE);
      }
      HostMemory.putByte(target.values() + row, (byte) (next == 't' ? 1 : 0));
    } else {
      return json.fail(next == '{' || next == '[' ? JsonError.WRONG_TYPE : JsonError.MALFORMED);
    }
    present[index] = true;
    return true;
  }

  private boolean readNumberValue(JsonField into, Target target) {
    if (!number.read(text, true)) {
      return json.fail(JsonError.MALFORMED);
    }
    return switch (into.kind()) {
      case FLOAT -> putFloat(into, target);
      case DECIMAL -> putDecimal(into, target, text) || json.fail(JsonError.INVALID_VALUE);
      case INTEGER -> putInteger(into, target);
      default -> json.fail(JsonError.WRONG_TYPE);
    };
  }

  private boolean putInteger(JsonField into, Target target) {
    if (!number.isInteger()) {
      return json.fail(JsonError.WRONG_TYPE);
    }
    if (!number.isIntegerOf(into.width())) {
      return json.fail(JsonError.INVALID_VALUE);
    }
    putLowBytes(target, into.width(), number.integer());
    return true;
  }

  private boolean putFloat(JsonField into, Target target) {
    FloatingPoint format = FloatingPoint.ofBytes(into.width());
    long bits = format.bits(number);
    int outcome = format.outcome(number, bits);
    if (exact && outcome == FloatingPoint.UNDECIDED) {
      bits = exactBits(format);
      outcome = format.isFinite(bits) ? FloatingPoint.EXACT : FloatingPoint.TOO_LARGE;
    }
    if (outcome == FloatingPoint.TOO_LARGE) {
      return json.fail(JsonError.INVALID_VALUE);
    }
    undecided |= outcome == FloatingPoint.UNDECIDED;
    putLowBytes(target, into.width(), bits);
    return true;
  }

  // Rare: only for numbers of more than 19 digits, between two of which the rounding changes.
  private long exactBits(FloatingPoint format) {
    int start = number.firstDigit() - (number.isNegative() ? 1 : 0);
    byte[] digits = new byte[text.at() - start];
    HostMemory.copyToArray(digits, 0, text.address() + start, digits.length);
    return format.parse(new String(digits, StandardCharsets.US_ASCII));
  }

  private boolean putDecimal(JsonField into, Target target, TextCursor digits) {
    if (!number.readDecimal(digits, into.type().precision(), into.type().scale())) {
      return false;
    }
    if (into.width() == 2 * Long.BYTES) {
      HostMemory.putLong(target.values() + 2L * Long.BYTES * row, number.low());
      HostMemory.putLong(target.values() + 2L * Long.BYTES * row + Long.BYTES, number.high());
    } else {
      putLowBytes(target, into.width(), number.low());
    }
    return true;
  }

  private boolean readStringValue(JsonField into, Target target) {
    if (!json.readString()) {
      return false;
    }
    return switch (into.kind()) {
      case STRING -> {
        int escapes = json.hasEscapes() ? HAS_ESCAPES : 0;
        HostMemory.putInt(target.values() + (long) row * Integer.BYTES, json.start() | escapes);
        HostMemory.putInt(target.second() + (long) row * Integer.BYTES, json.bytes());
        yield true;
      }
      case OBJECT, BOOL, INTEGER -> json.fail(JsonError.WRONG_TYPE);
      default -> {
        boolean valid = openText() && putText(into, target) && part.isAtEnd();
        boolean isFloat = into.kind() == JsonType.FLOAT;
        yield valid || json.fail(isFloat ? JsonError.WRONG_TYPE : JsonError.INVALID_VALUE);
      }
    };
  }

  private boolean openText() {
    part.reset(text, json.start(), json.start() + json.writtenBytes());
    if (!json.hasEscapes()) {
      return true;
    }
    if (json.bytes() > LONGEST_SCALAR) {
      return false;
    }
    JsonText.resolveEscapes(part, json.bytes(), copy);
    part.reset(copy, 0, json.bytes());
    return true;
  }

  private boolean putText(JsonField into, Target target) {
    return switch (into.kind()) {
      case FLOAT -> putNotFinite(into, target);
      case DECIMAL -> number.read(part, false) && putDecimal(into, target, part);
      case DATE -> time.readDate(part) && putInt(target, time.days());
      case TIME -> time.readTime(part) && putInt(target, time.millisOfDay());
      default -> putTimestamp(into, target);
    };
  }

  private boolean putInt(Target target, int value) {
    putLowBytes(target, Integer.BYTES, value);
    return true;
  }

  private boolean putNotFinite(JsonField into, Target target) {
    FloatingPoint format = FloatingPoint.ofBytes(into.width());
    if (part.takeWord(NAN, NAN_BYTES)) {
      putLowBytes(target, into.width(), format.nanBits());
      return true;
    }
    boolean negative = part.take('-');
    putLowBytes(target, into.width(), format.infinityBits(negative));
    return part.takeWord(INFINITY, Long.BYTES);
  }

  private boolean putTimestamp(JsonField into, Target target) {
    if (!time.readTimestamp(part, into.type().withTimeZone(), into.type().precision())) {
      return false;
    }
    long value =
        into.width() == JsonField.MICROS_WIDTH
            ? time.millis() * 1000 + time.nanosOfMilli() / 1000
            : time.millis();
    putLowBytes(target, Long.BYTES, value);
    if (into.hasSecond()) {
      HostMemory.putInt(target.second() + (long) row * Integer.BYTES, time.nanosOfMilli());
    }
    return true;
  }

  private void putLowBytes(Target target, int width, long bits) {
    long address = target.values() + (long) row * width;
    switch (width) {
      case Long.BYTES -> HostMemory.putLong(address, bits);
      case Integer.BYTES -> HostMemory.putInt(address, (int) bits);
      case Short.BYTES -> HostMemory.putShort(address, (short) bits);
      default -> HostMemory.putByte(address, (byte) bits);
    }
  }

  @Override
  public void close() {
    HostMemory.free(copy);
  }
}
