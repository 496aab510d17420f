// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;
import io.millrace.format.record.RecordError;
import java.math.BigInteger;

/** A step of a program, and its form for kernels. Changed only while the program is made. */
final class AvroStep {
  /** The structure {@code AvroStep} of avro_arguments.cuh. */
  static final class Layout {
    static final KernelStructure LAYOUT = new KernelStructure("AvroStep");
    static final KernelStructure.Int32 KIND = LAYOUT.int32("kind");
    static final KernelStructure.Int32 FIELD = LAYOUT.int32("field");
    static final KernelStructure.Int32 NEXT = LAYOUT.int32("next");
    static final KernelStructure.Int32 SIZE = LAYOUT.int32("size");
    static final KernelStructure.Int32 FIRST_SYMBOL = LAYOUT.int32("first_symbol");
    static final KernelStructure.Int32 UNIT = LAYOUT.int32("unit");
    static final KernelStructure.Int64 DIVISOR = LAYOUT.int64("divisor");
    static final KernelStructure.Int64 MULTIPLIER = LAYOUT.int64("multiplier");
    static final KernelStructure.Int64 BOUND_LOW = LAYOUT.int64("bound_low");
    static final KernelStructure.Int64 BOUND_HIGH = LAYOUT.int64("bound_high");

    private Layout() {}
  }

  /** The {@link #field} of a value that is skipped. */
  static final int NO_FIELD = -1;

  final AvroStepKind kind;
  final int field;

  /** Bytes, branches, symbols, the number of the null branch, or of an error. */
  final int size;

  /** The number of an enum's first symbol among those of the program; else 0. */
  final int firstSymbol;

  /** The error that the step ends the record with; VALID if it does not. */
  final RecordError error;

  /** Another step that this one may go on at. */
  int next;

  /** Nanoseconds of the unit of a time that was divided. */
  int unit = 1;

  /** A time is divided by it, and rounded down. */
  long divisor = 1;

  /** The quotient is multiplied by it. */
  long multiplier = 1;

  // Decimals are below it, regardless of their sign.
  private long boundLow;
  private long boundHigh;

  AvroStep(AvroStepKind kind, int field, int size) {
    this(kind, field, size, 0, RecordError.VALID);
  }

  private AvroStep(AvroStepKind kind, int field, int size, int firstSymbol, RecordError error) {
    this.kind = kind;
    this.field = field;
    this.size = size;
    this.firstSymbol = firstSymbol;
    this.error = error;
  }

  /** A step that reads an enum of {@code symbols} symbols. */
  static AvroStep ofEnum(int field, int firstSymbol, int symbols) {
    return new AvroStep(AvroStepKind.ENUM, field, symbols, firstSymbol, RecordError.VALID);
  }

  /** A step that ends the record with an error about a field. */
  static AvroStep failure(int field, RecordError error) {
    return new AvroStep(AvroStepKind.FAIL, field, error.number(), 0, error);
  }

  /** Sets what decimals are below, regardless of their sign: at most 10^38. */
  void setBound(BigInteger bound) {
    boundLow = bound.longValue();
    boundHigh = bound.shiftRight(Long.SIZE).longValueExact();
  }

  long boundLow() {
    return boundLow;
  }

  long boundHigh() {
    return boundHigh;
  }

  /**
   * Writes the step.
   *
   * @param first the number of the program's first step, from which {@link #next} counts
   * @param programSymbol the number of the program's first symbol
   */
  void write(long address, int first, int programSymbol) {
    put(address, Layout.KIND, kind.number());
    put(address, Layout.FIELD, field);
    put(address, Layout.NEXT, first + next);
    put(address, Layout.SIZE, size);
    put(address, Layout.FIRST_SYMBOL, programSymbol + firstSymbol);
    put(address, Layout.UNIT, unit);
    put(address, Layout.DIVISOR, divisor);
    put(address, Layout.MULTIPLIER, multiplier);
    put(address, Layout.BOUND_LOW, boundLow);
    put(address, Layout.BOUND_HIGH, boundHigh);
  }

  private static void put(long address, KernelStructure.Int32 field, int value) {
    HostMemory.putInt(address + field.offset(), value);
  }

  private static void put(long address, KernelStructure.Int64 field, long value) {
    HostMemory.putLong(address + field.offset(), value);
  }
}
