// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;
import io.millrace.format.record.RecordKernels.Target;
import io.millrace.format.text.FloatingPoint;
import io.millrace.format.text.IsoTime;
import io.millrace.format.text.NumberText;
import io.millrace.format.text.TextCursor;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Writes the values of a row to columns on the host. The twin of record_value.cuh. Used by one
 * thread.
 */
@Internal
public final class RowBuilder {
  static final int HAS_ESCAPES = 1 << 31;

  // Milliseconds of the last digit of a time, by the number of digits.
  private static final int[] UNITS_OF_TIME = {1000, 100, 10, 1};
  private static final long LOWER_CASE = 0x2020202020202020L;
  private static final long TRUE = 0x65757274L;
  private static final long FALSE = 0x65736c6166L;
  private static final int TRUE_BYTES = 4;
  private static final int FALSE_BYTES = 5;
  private static final long NAN = 0x4e614eL;
  private static final int NAN_BYTES = 3;
  private static final long INFINITY = 0x7974696e69666e49L;

  private final NumberText number = new NumberText();
  private final IsoTime time = new IsoTime();
  private final boolean exact;
  private final RecordField[] fields;
  private final Target[] targets;
  private final boolean[] present;
  private int row;
  private boolean undecided;

  /**
   * @param targets where the values of each field go
   * @param exact whether to round floating-point numbers that a GPU leaves undecided
   */
  public RowBuilder(RecordFields fields, List<Target> targets, boolean exact) {
    this.exact = exact;
    this.fields = new RecordField[fields.size()];
    for (int i = 0; i < fields.size(); i++) {
      this.fields[i] = fields.get(i);
    }
    this.targets = targets.toArray(Target[]::new);
    this.present = new boolean[fields.size()];
  }

  /** Begins a row, whose fields are all null. */
  public void begin(int newRow) {
    row = newRow;
    undecided = false;
    clear();
  }

  /** Makes all fields null, and the record not a row. */
  public void clear() {
    Arrays.fill(present, false);
  }

  /** Whether the row has a field that is not null; of the field 0, whether it is a row. */
  public boolean isPresent(int field) {
    return present[field];
  }

  /** Says that a field, whose value is written, is not null. */
  public void setPresent(int field) {
    present[field] = true;
  }

  /** Whether the row has a floating-point number that is left undecided. */
  public boolean isUndecided() {
    return undecided;
  }

  public void putBool(int field, boolean value) {
    HostMemory.putByte(targets[field].values() + row, (byte) (value ? 1 : 0));
  }

  /** Writes an integer without point and exponent; false if it is out of range. */
  public boolean putInteger(int field, NumberText integer) {
    int width = fields[field].width();
    if (!integer.isIntegerOf(width)) {
      return false;
    }
    putLowBytes(field, width, integer.integer());
    return true;
  }

  /**
   * Writes a floating-point number; false if it is too large.
   *
   * @param text behind the number
   */
  public boolean putFloat(int field, NumberText value, TextCursor text) {
    FloatingPoint format = FloatingPoint.ofBytes(fields[field].width());
    long bits = format.bits(value);
    int outcome = format.outcome(value, bits);
    if (exact && outcome == FloatingPoint.UNDECIDED) {
      bits = exactBits(format, value, text);
      outcome = format.isFinite(bits) ? FloatingPoint.EXACT : FloatingPoint.TOO_LARGE;
    }
    undecided |= outcome == FloatingPoint.UNDECIDED;
    putLowBytes(field, fields[field].width(), bits);
    return outcome != FloatingPoint.TOO_LARGE;
  }

  // Rare: only for numbers of more than 19 digits, between two of which the rounding changes.
  private static long exactBits(FloatingPoint format, NumberText value, TextCursor text) {
    int start = value.firstDigit() - (value.isNegative() ? 1 : 0);
    byte[] digits = new byte[text.at() - start];
    HostMemory.copyToArray(digits, 0, text.address() + start, digits.length);
    return format.parse(new String(digits, StandardCharsets.US_ASCII));
  }

  /**
   * Writes a decimal; false if it has too many digits.
   *
   * @param text that the number was read from
   */
  public boolean putDecimal(int field, NumberText value, TextCursor text) {
    RecordField into = fields[field];
    if (!value.readDecimal(text, into.precision(), into.type().scale())) {
      return false;
    }
    putDecimal(field, value.low(), value.high());
    return true;
  }

  /** Writes the lowest bytes of a word to a field of fixed width, of at most eight bytes. */
  public void putBits(int field, long bits) {
    putLowBytes(field, fields[field].valueBytes(), bits);
  }

  /** Writes a decimal that fits. */
  public void putDecimal(int field, long low, long high) {
    if (fields[field].width() == 2 * Long.BYTES) {
      long address = targets[field].values() + 2L * Long.BYTES * row;
      HostMemory.putLong(address, low);
      HostMemory.putLong(address + Long.BYTES, high);
    } else {
      putLowBytes(field, fields[field].width(), low);
    }
  }

  /** Writes a timestamp of two parts. */
  public void putTimestamp(int field, long millis, int nanosOfMilli) {
    putLowBytes(field, Long.BYTES, millis);
    HostMemory.putInt(targets[field].second() + (long) row * Integer.BYTES, nanosOfMilli);
  }

  /**
   * Writes where a list is.
   *
   * @param number what {@link RecordFormat#findElements} is told to find the elements
   */
  public void putList(int field, int start, int number, int elements) {
    putLowBytes(field, Long.BYTES, (long) number << Integer.SIZE | start);
    HostMemory.putInt(targets[field].second() + (long) row * Integer.BYTES, elements);
  }

  /**
   * Writes where a string is.
   *
   * @param start of its bytes, as they are written
   * @param hasEscapes whether they are written otherwise than they are
   * @param bytes of the value
   */
  public void putString(int field, int start, boolean hasEscapes, int bytes) {
    long offset = (long) row * Integer.BYTES;
    HostMemory.putInt(targets[field].values() + offset, start | (hasEscapes ? HAS_ESCAPES : 0));
    HostMemory.putInt(targets[field].second() + offset, bytes);
  }

  /**
   * Reads text without quotes into a field that is neither a string nor an integer nor a boolean; a
   * floating-point number only if it is not finite. False if the text does not begin with a value
   * of the field's type.
   */
  public boolean putText(int field, TextCursor text) {
    return switch (fields[field].kind()) {
      case FLOAT -> putNotFinite(field, text);
      case DECIMAL -> number.read(text, false) && putDecimal(field, number, text);
      case DATE -> time.readDate(text) && putInt(field, time.days());
      case TIME -> time.readTime(text) && putInt(field, millisOfDay(fields[field].precision()));
      default -> putTimestamp(field, text);
    };
  }

  private int millisOfDay(int precision) {
    return time.millisOfDay() - time.millisOfDay() % UNITS_OF_TIME[precision];
  }

  /**
   * Reads text without quotes into a field that is neither a string nor a list nor an object. False
   * if the text does not begin with a value of the field's type.
   */
  public boolean putScalar(int field, TextCursor text) {
    return switch (fields[field].kind()) {
      case BOOL -> putBoolText(field, text);
      case INTEGER -> number.read(text, false) && number.isInteger() && putInteger(field, number);
      case FLOAT -> putFloatText(field, text);
      default -> putText(field, text);
    };
  }

  private boolean putBoolText(int field, TextCursor text) {
    int size = text.end() - text.at();
    if (size != TRUE_BYTES && size != FALSE_BYTES) {
      return false;
    }
    long word = (text.word(text.at()) | LOWER_CASE) & ((1L << (size * Byte.SIZE)) - 1);
    text.moveTo(text.end());
    putBool(field, word == TRUE);
    return word == TRUE || word == FALSE;
  }

  private boolean putFloatText(int field, TextCursor text) {
    int start = text.at();
    if (number.read(text, false)) {
      return putFloat(field, number, text);
    }
    text.moveTo(start);
    return putNotFinite(field, text);
  }

  private boolean putInt(int field, int value) {
    putLowBytes(field, Integer.BYTES, value);
    return true;
  }

  private boolean putNotFinite(int field, TextCursor text) {
    int width = fields[field].width();
    FloatingPoint format = FloatingPoint.ofBytes(width);
    if (text.takeWord(NAN, NAN_BYTES)) {
      putLowBytes(field, width, format.nanBits());
      return true;
    }
    boolean negative = text.take('-');
    putLowBytes(field, width, format.infinityBits(negative));
    return text.takeWord(INFINITY, Long.BYTES);
  }

  private boolean putTimestamp(int field, TextCursor text) {
    RecordField into = fields[field];
    if (!time.readTimestamp(text, into.type().withTimeZone(), into.precision())) {
      return false;
    }
    long value =
        into.width() == RecordField.MICROS_WIDTH
            ? time.millis() * 1000 + time.nanosOfMilli() / 1000
            : time.millis();
    putLowBytes(field, Long.BYTES, value);
    if (into.hasSecond()) {
      HostMemory.putInt(targets[field].second() + (long) row * Integer.BYTES, time.nanosOfMilli());
    }
    return true;
  }

  private void putLowBytes(int field, int width, long bits) {
    long address = targets[field].values() + (long) row * width;
    switch (width) {
      case Long.BYTES -> HostMemory.putLong(address, bits);
      case Integer.BYTES -> HostMemory.putInt(address, (int) bits);
      case Short.BYTES -> HostMemory.putShort(address, (short) bits);
      default -> HostMemory.putByte(address, (byte) bits);
    }
  }
}
