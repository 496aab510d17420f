// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.calc.CalcProgram.InputWord;
import io.millrace.calc.CalcProgram.OutputWord;
import io.millrace.calc.CalcProgram.Word;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.typed.InputPath;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Registers with the words of a calc's argument structure, which the kernel loads at its start. */
final class CalcArguments {
  private final PtxWriter ptx;
  private final List<InputPath> inputs;
  private final int outputs;
  private final int tables;
  private final Map<Integer, String> registers = new LinkedHashMap<>();

  /**
   * @param inputs the columns that the kernel reads
   * @param outputs number of output columns
   * @param tables number of constant tables
   */
  CalcArguments(PtxWriter ptx, List<InputPath> inputs, int outputs, int tables) {
    this.ptx = ptx;
    this.inputs = inputs;
    this.outputs = outputs;
    this.tables = tables;
  }

  String word(Word word) {
    return at(word.offset());
  }

  String input(InputPath column, InputWord word) {
    return at(CalcProgram.inputOffset(inputs.indexOf(column), word));
  }

  String output(int output, OutputWord word) {
    return at(CalcProgram.outputOffset(inputs.size(), output, word));
  }

  String table(int table) {
    return at(CalcProgram.tableOffset(inputs.size(), outputs, table));
  }

  String scratch(int scratch) {
    return table(tables + scratch);
  }

  private String at(int offset) {
    return registers.computeIfAbsent(offset, key -> ptx.register(".b64"));
  }

  /** A register with the address of an array element. */
  String address(String array, String element, long width) {
    String address = ptx.register(".b64");
    if (width <= Integer.MAX_VALUE) {
      ptx.write("mad.wide.s32 %s, %s, %d, %s", address, element, width, array);
    } else {
      ptx.write("cvt.s64.s32 %s, %s", address, element);
      ptx.write("mad.lo.s64 %s, %s, %d, %s", address, address, width, array);
    }
    return address;
  }

  /** The load instructions of the requested words. */
  String loads() {
    StringBuilder loads = new StringBuilder();
    registers.forEach(
        (offset, register) ->
            loads
                .append("  ld.param.b64 ")
                .append(register)
                .append(", [arguments+")
                .append(offset)
                .append("];\n"));
    return loads.toString();
  }
}
