// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.calc.CalcProgram.InputWord;
import io.millrace.calc.CalcProgram.OutputWord;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.ptx.PtxCall;
import io.millrace.expression.ptx.PtxPredicates;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.vector.ValueKind;
import java.util.List;

/** Writes the loads and stores of columns in a generated kernel. */
final class CalcColumns {
  private final PtxWriter ptx;
  private final PtxCall calls;
  private final PtxPredicates predicates;
  private final CalcArguments arguments;
  private final boolean hasMasks;

  /**
   * @param hasMasks whether input columns may have masks
   */
  CalcColumns(PtxWriter ptx, PtxCall calls, CalcArguments arguments, boolean hasMasks) {
    this.hasMasks = hasMasks;
    this.ptx = ptx;
    this.calls = calls;
    this.predicates = new PtxPredicates(ptx);
    this.arguments = arguments;
  }

  /**
   * Loads the value of an input column, without regard to the structs that it is a field of.
   *
   * @param nullable whether the column may have a mask that counts
   * @param guard predicate that is true if the row exists and its value is needed; the value is
   *     undefined otherwise
   */
  PtxValue load(InputPath column, DataType type, boolean nullable, String row, String guard) {
    PtxValue value = calls.declare(type);
    if (!value.registers().isEmpty()) {
      loadValue(column, value, row, guard);
    }
    return hasMasks && nullable ? value.withValid(loadValid(column, row, guard)) : value;
  }

  private void loadValue(InputPath column, PtxValue value, String row, String guard) {
    TypeId id = value.type().id();
    String data = arguments.input(column, InputWord.DATA);
    switch (ValueKind.of(value.type())) {
      case BOOL -> {
        String number = ptx.register(".b32");
        ptx.write(
            "@%s ld.global.nc.u8 %s, [%s]",
            guard, number, arguments.address(data, row, Byte.BYTES));
        ptx.write("setp.ne.s32 %s, %s, 0", value.register(), number);
      }
      case INT, LONG, FLOAT, DOUBLE ->
          ptx.write(
              "@%s ld.global.nc%s %s, [%s]",
              guard,
              memoryType(id),
              value.register(),
              arguments.address(data, row, id.byteWidth()));
      case DECIMAL128 -> {
        String address = arguments.address(data, row, id.byteWidth());
        ptx.write("@%s ld.global.nc.b64 %s, [%s]", guard, value.register(), address);
        ptx.write(
            "@%s ld.global.nc.b64 %s, [%s+%d]", guard, value.secondPart(), address, Long.BYTES);
      }
      case TIMESTAMP_NANOS -> {
        String second =
            arguments.address(arguments.input(column, InputWord.SECOND_PART), row, Integer.BYTES);
        ptx.write(
            "@%s ld.global.nc.b64 %s, [%s]",
            guard, value.register(), arguments.address(data, row, Long.BYTES));
        ptx.write("@%s ld.global.nc.b32 %s, [%s]", guard, value.secondPart(), second);
      }
      case BYTES -> {
        String offset =
            arguments.address(arguments.input(column, InputWord.SECOND_PART), row, Integer.BYTES);
        String begin = ptx.register(".b32");
        ptx.write("@%s ld.global.nc.b32 %s, [%s]", guard, begin, offset);
        ptx.write(
            "@%s ld.global.nc.b32 %s, [%s+%d]", guard, value.secondPart(), offset, Integer.BYTES);
        ptx.write("sub.s32 %s, %s, %s", value.secondPart(), value.secondPart(), begin);
        ptx.write("mad.wide.s32 %s, %s, 1, %s", value.register(), begin, data);
      }
      default -> throw new IllegalArgumentException("no register holds " + value.type());
    }
  }

  private static String memoryType(TypeId id) {
    return switch (id) {
      case INT8 -> ".s8";
      case INT16 -> ".s16";
      case FLOAT32 -> ".f32";
      case FLOAT64 -> ".f64";
      default -> id.byteWidth() == Long.BYTES ? ".b64" : ".b32";
    };
  }

  private String loadValid(InputPath column, String row, String guard) {
    String mask = arguments.input(column, InputWord.VALIDITY);
    String bit = ptx.register(".b32");
    String index = ptx.register(".b32");
    String bits = ptx.register(".b32");
    String hasMask = ptx.register(".pred");
    ptx.write("cvt.u32.u64 %s, %s", bit, arguments.input(column, InputWord.BIT_OFFSET));
    ptx.write("add.s32 %s, %s, %s", bit, bit, row);
    ptx.write("shr.u32 %s, %s, 3", index, bit);
    ptx.write("setp.ne.u64 %s, %s, 0", hasMask, mask);
    ptx.write("and.pred %s, %s, %s", hasMask, hasMask, guard);
    ptx.write("mov.b32 %s, 0xff", bits);
    ptx.write(
        "@%s ld.global.nc.u8 %s, [%s]", hasMask, bits, arguments.address(mask, index, Byte.BYTES));
    ptx.write("and.b32 %s, %s, 7", bit, bit);
    ptx.write("shr.u32 %s, %s, %s", bits, bits, bit);
    ptx.write("and.b32 %s, %s, 1", bits, bits);
    return predicates.compare("ne", bits, 0);
  }

  /**
   * Stores a fixed-width value.
   *
   * @param computed true to replace NaN by the canonical NaN; values of an input column keep theirs
   * @param guard predicate that is true if the value is stored
   */
  void store(int index, PtxValue value, String position, boolean computed, String guard) {
    DataType type = value.type();
    String data = arguments.output(index, OutputWord.DATA);
    int width = type.id().byteWidth();
    switch (ValueKind.of(type)) {
      case BOOL -> {
        String number = ptx.register(".b32");
        ptx.write("selp.b32 %s, 1, 0, %s", number, value.register());
        ptx.write(
            "@%s st.global.u8 [%s], %s", guard, arguments.address(data, position, width), number);
      }
      case FLOAT, DOUBLE -> {
        String register = computed ? canonical(value) : value.register();
        String address = arguments.address(data, position, width);
        ptx.write(
            "@%s st.global.%s [%s], %s",
            guard, width == Double.BYTES ? "f64" : "f32", address, register);
      }
      case INT, LONG ->
          ptx.write(
              "@%s st.global.b%d [%s], %s",
              guard, width * Byte.SIZE, arguments.address(data, position, width), value.register());
      case DECIMAL128 -> {
        String address = arguments.address(data, position, width);
        ptx.write("@%s st.global.b64 [%s], %s", guard, address, value.register());
        ptx.write("@%s st.global.b64 [%s+%d], %s", guard, address, Long.BYTES, value.secondPart());
      }
      case TIMESTAMP_NANOS -> {
        String second =
            arguments.address(
                arguments.output(index, OutputWord.SECOND_PART), position, Integer.BYTES);
        String first = arguments.address(data, position, Long.BYTES);
        ptx.write("@%s st.global.b64 [%s], %s", guard, first, value.register());
        ptx.write("@%s st.global.b32 [%s], %s", guard, second, value.secondPart());
      }
      case BYTES -> throw new IllegalArgumentException("bytes are stored with their offset");
      default -> throw new IllegalArgumentException("no register holds " + type);
    }
  }

  /** Stores a STRING or BINARY value whose bytes begin at {@code start} in the column. */
  void storeBytes(int index, PtxValue value, String position, String start, String length) {
    storeOffset(index, position, start);
    calls.call(
        "copy_bytes",
        List.of(".b64", ".b64", ".b32"),
        List.of(
            arguments.address(arguments.output(index, OutputWord.DATA), start, Byte.BYTES),
            value.register(),
            length),
        null);
  }

  void storeOffset(int index, String position, String start) {
    String offsets = arguments.output(index, OutputWord.SECOND_PART);
    ptx.write("st.global.b32 [%s], %s", arguments.address(offsets, position, Integer.BYTES), start);
  }

  // Java and GPUs produce different NaN values, so computed ones become canonical.
  private String canonical(PtxValue value) {
    boolean isDouble = ValueKind.of(value.type()) == ValueKind.DOUBLE;
    String type = isDouble ? ".f64" : ".f32";
    String isNaN = ptx.register(".pred");
    String canonical = ptx.register(type);
    ptx.write("setp.nan%s %s, %s, %s", type, isNaN, value.register(), value.register());
    ptx.write(
        "selp%s %s, %s, %s, %s",
        type, canonical, isDouble ? "0d7FF8000000000000" : "0f7FC00000", value.register(), isNaN);
    return canonical;
  }
}
