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

  /**
   * Bytes, branches, symbols, the number of the null branch, of an error, or of the program that
   * reads the elements of a field's list; of the end of blocks 1 if all their elements count.
   */
  final int size;

  /** The number of an enum's first symbol among its program's, and among all once it is linked. */
  final int firstSymbol;

  /** The error that the step ends the record with; VALID if it does not. */
  final RecordError error;

  /** Another step that this one may go on at; numbered as symbols are. */
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

  boolean hasField() {
    return field != NO_FIELD;
  }

  /** Whether a list of a field begins here. */
  boolean isList() {
    return kind == AvroStepKind.BLOCKS_BEGIN && hasField();
  }

  /**
   * The step with numbers that count from the first step, symbol and program of elements of all
   * programs.
   *
   * @param firstStep the number of the program's first step
   * @param symbolsBefore the number of the program's first symbol
   * @param firstProgram the number of the first program for the elements of the field's lists
   */
  AvroStep linked(int firstStep, int symbolsBefore, int firstProgram) {
    int number = isList() ? firstProgram + size : size;
    AvroStep linked = new AvroStep(kind, field, number, symbolsBefore + firstSymbol, error);
    linked.next = firstStep + next;
    linked.unit = unit;
    linked.divisor = divisor;
    linked.multiplier = multiplier;
    linked.boundLow = boundLow;
    linked.boundHigh = boundHigh;
    return linked;
  }

  long boundLow() {
    return boundLow;
  }

  long boundHigh() {
    return boundHigh;
  }

  /** Writes the step, which is linked. */
  void write(long address) {
    put(address, Layout.KIND, kind.number());
    put(address, Layout.FIELD, field);
    put(address, Layout.NEXT, next);
    put(address, Layout.SIZE, size);
    put(address, Layout.FIRST_SYMBOL, firstSymbol);
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
