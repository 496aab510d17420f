// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.ptx;

import io.millrace.annotation.Internal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** A generated module around a kernel: constants and library functions. */
@Internal
public final class PtxModule {
  // The version that JCuda's assembler supports, so that tests assemble every module without a GPU.
  private static final String HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n\n";
  // A module has 64 KiB of constant space in total.
  private static final int MAX_CONSTANT_NUMBERS = 8000;

  private final PtxLibrary library;
  private final Set<String> functions = new LinkedHashSet<>();
  private final Map<List<Byte>, String> constants = new LinkedHashMap<>();
  private final Map<NumericConstant, Variable> numbers = new LinkedHashMap<>();

  private record NumericConstant(String type, long bits) {}

  private record Variable(String space, String name) {}

  public PtxModule(PtxLibrary library) {
    this.library = library;
  }

  PtxLibrary library() {
    return library;
  }

  /** Includes a library function that the kernel calls; returns its name. */
  String function(String name) {
    functions.add(name);
    return name;
  }

  /** Includes a constant; returns the name of its variable. */
  public String constant(byte[] bytes) {
    List<Byte> key = new ArrayList<>(bytes.length);
    for (byte value : bytes) {
      key.add(value);
    }
    return constants.computeIfAbsent(key, k -> "constant_" + constants.size());
  }

  /**
   * Loads a 32-bit number from memory instead of an immediate. The assemblers of CUDA 12.9 to 13.3
   * generate wrong code for sm_90 and sm_100 if a function with one call takes the minimum or
   * maximum of a sum or difference with a known argument.
   */
  public void load(PtxWriter ptx, String register, int number) {
    load(ptx, register, new NumericConstant(".b32", Integer.toUnsignedLong(number)));
  }

  /** Loads a 64-bit number, see {@link #load(PtxWriter, String, int)}. */
  public void load(PtxWriter ptx, String register, long number) {
    load(ptx, register, new NumericConstant(".b64", number));
  }

  private void load(PtxWriter ptx, String register, NumericConstant number) {
    Variable variable =
        numbers.computeIfAbsent(
            number,
            key ->
                new Variable(
                    numbers.size() < MAX_CONSTANT_NUMBERS ? ".const" : ".global",
                    "number_" + numbers.size()));
    ptx.write("ld%s%s %s, [%s]", variable.space(), number.type(), register, variable.name());
  }

  /** The text of the module with this kernel. */
  public String text(String kernel) {
    StringBuilder text = new StringBuilder(HEADER);
    constants.forEach((bytes, name) -> text.append(declaration(name, bytes)));
    numbers.forEach((number, variable) -> text.append(declaration(variable, number)));
    return text.append(library.textOf(functions)).append(kernel).toString();
  }

  private static String declaration(Variable variable, NumericConstant number) {
    return String.format(
        Locale.ROOT,
        "%s %s %s = 0x%x;\n",
        variable.space(),
        number.type(),
        variable.name(),
        number.bits());
  }

  // Whole words, padded with zeros: kernels read texts by words.
  private static String declaration(String name, List<Byte> bytes) {
    int words = Math.max(1, (bytes.size() + Long.BYTES - 1) / Long.BYTES);
    StringBuilder values = new StringBuilder();
    for (byte value : bytes) {
      values.append(values.length() == 0 ? " = {" : ", ").append(value & 0xff);
    }
    return String.format(
        Locale.ROOT,
        ".global .align 16 .b8 %s[%d]%s;\n",
        name,
        words * Long.BYTES,
        bytes.isEmpty() ? "" : values.append('}'));
  }
}
