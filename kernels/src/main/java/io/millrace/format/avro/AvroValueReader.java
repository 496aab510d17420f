// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import io.millrace.format.record.FieldType;
import io.millrace.format.record.RecordError;
import io.millrace.format.record.RecordField;
import io.millrace.format.record.RecordFields;
import io.millrace.format.record.RowBuilder;
import io.millrace.format.text.TextCursor;

/**
 * Reads values of Avro's binary encoding into the columns of a row. The twin of avro_value.cuh.
 * Used by one thread.
 */
final class AvroValueReader {
  private static final int NANOS_OF_MILLI = 1_000_000;
  private static final long MILLIS_OF_DAY = 86_400_000;
  private static final long NAN_BITS = 0x7ff8_0000_0000_0000L;
  private static final int WIDE_BYTES = 2 * Long.BYTES;

  private final AvroCursor avro;
  private final TextCursor part = new TextCursor();
  private final RecordField[] fields;
  private final AvroPlan plan;
  private final RowBuilder row;

  AvroValueReader(RecordFields fields, AvroPlan plan, AvroCursor avro, RowBuilder row) {
    this.fields = new RecordField[fields.size()];
    for (int i = 0; i < fields.size(); i++) {
      this.fields[i] = fields.get(i);
    }
    this.plan = plan;
    this.avro = avro;
    this.row = row;
  }

  /** Reads the value of a step with a field; false if there is none. */
  boolean read(AvroStep step) {
    boolean isRead =
        switch (step.kind) {
          case BOOLEAN -> avro.readFixed(1);
          case FLOAT -> avro.readFixed(Float.BYTES);
          case DOUBLE -> avro.readFixed(Double.BYTES);
          case INT -> avro.readInt();
          case LONG -> avro.readLong();
          case ENUM -> avro.readIndex(step.size);
          case FIXED -> avro.hasBytes(step.size);
          default -> avro.readLong() && avro.hasBytes(avro.integer());
        };
    if (!isRead || !put(step, fields[step.field])) {
      return false;
    }
    row.setPresent(step.field);
    return true;
  }

  private boolean put(AvroStep step, RecordField into) {
    switch (step.kind) {
      case BOOLEAN -> row.putBool(step.field, avro.bits() == 1);
      case FLOAT -> putFloat(step.field, into, (int) avro.bits());
      case DOUBLE -> row.putBits(step.field, avro.bits());
      case ENUM -> {
        int number = step.firstSymbol + (int) avro.integer();
        row.putString(step.field, number, true, plan.symbol(number).length);
      }
      case INT, LONG -> {
        return putInteger(step, into, avro.integer());
      }
      default -> {
        int bytes = step.kind == AvroStepKind.FIXED ? step.size : (int) avro.integer();
        return putBytes(step, into, bytes);
      }
    }
    return true;
  }

  private boolean failValue(AvroStep step) {
    return avro.fail(step.field, RecordError.INVALID_VALUE);
  }

  private void putFloat(int field, RecordField into, int bits) {
    float value = Float.intBitsToFloat(bits);
    if (into.width() == Float.BYTES) {
      row.putBits(field, bits);
    } else {
      row.putBits(field, Float.isNaN(value) ? NAN_BITS : Double.doubleToRawLongBits(value));
    }
  }

  private boolean putInteger(AvroStep step, RecordField into, long value) {
    switch (into.kind()) {
      case INTEGER -> {
        int unused = Long.SIZE - into.width() * Byte.SIZE;
        if (value << unused >> unused != value) {
          return failValue(step);
        }
        row.putBits(step.field, value);
      }
      case FLOAT ->
          row.putBits(
              step.field,
              into.width() == Double.BYTES
                  ? Double.doubleToRawLongBits((double) value)
                  : Float.floatToRawIntBits((float) value));
      case DATE -> row.putBits(step.field, value);
      default -> {
        return putTime(step, into, value);
      }
    }
    return true;
  }

  // A time in the writer's units, which the step divides and multiplies.
  private boolean putTime(AvroStep step, RecordField into, long value) {
    long quotient = Math.floorDiv(value, step.divisor);
    if (into.type().id() == TypeId.TIMESTAMP_NANOS) {
      long unitsOfMilli = NANOS_OF_MILLI / step.unit;
      int nanos = (int) Math.floorMod(quotient, unitsOfMilli) * step.unit;
      row.putTimestamp(step.field, Math.floorDiv(quotient, unitsOfMilli), nanos);
      return true;
    }
    long limit = Long.MAX_VALUE / step.multiplier;
    if (step.multiplier > 1 && (quotient > limit || quotient < -limit)) {
      return failValue(step);
    }
    long time = quotient * step.multiplier;
    if (into.kind() == FieldType.TIME && (value < 0 || time >= MILLIS_OF_DAY)) {
      return failValue(step);
    }
    row.putBits(step.field, time);
    return true;
  }

  private boolean putBytes(AvroStep step, RecordField into, int bytes) {
    int start = avro.text.at();
    if (into.kind() == FieldType.DECIMAL) {
      if (!putDecimal(step, start, bytes)) {
        return false;
      }
    } else {
      row.putString(step.field, start, false, bytes);
      part.reset(avro.text, start, start + bytes);
      if (step.kind == AvroStepKind.TEXT && !part.skipText()) {
        avro.text.moveTo(part.at());
        return avro.fail(RecordError.NO_UTF8);
      }
    }
    avro.skip(bytes);
    return true;
  }

  // A number in two's complement, the highest byte first.
  private boolean putDecimal(AvroStep step, int start, int bytes) {
    long address = avro.text.address() + start;
    long sign = bytes > 0 ? HostMemory.getByte(address) >> (Byte.SIZE - 1) : 0;
    boolean isValid = bytes > 0;
    int first = Math.max(0, bytes - WIDE_BYTES);
    for (int i = 0; i < first; i++) {
      isValid &= HostMemory.getByte(address + i) == sign;
    }
    long low = sign;
    long high = sign;
    for (int i = first; i < bytes; i++) {
      high = high << Byte.SIZE | low >>> (Long.SIZE - Byte.SIZE);
      low = low << Byte.SIZE | (HostMemory.getByte(address + i) & 0xff);
    }
    long magnitudeLow = sign == 0 ? low : -low;
    long magnitudeHigh = sign == 0 ? high : ~high + (low == 0 ? 1 : 0);
    int compared = Long.compareUnsigned(magnitudeHigh, step.boundHigh());
    boolean isBelow =
        compared < 0 || (compared == 0 && Long.compareUnsigned(magnitudeLow, step.boundLow()) < 0);
    if (!isValid || high >> (Long.SIZE - 1) != sign || !isBelow) {
      return failValue(step);
    }
    row.putDecimal(step.field, low, high);
    return true;
  }
}
