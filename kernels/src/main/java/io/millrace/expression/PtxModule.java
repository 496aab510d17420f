package io.millrace.expression;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** What a generated module has around its kernel: constants, and functions of the library. */
final class PtxModule {
  // What JCuda's assembler knows, so that tests assemble every module without a GPU.
  private static final String HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n\n";

  private final PtxLibrary library;
  private final Set<String> functions = new LinkedHashSet<>();
  private final Map<List<Byte>, String> constants = new LinkedHashMap<>();

  PtxModule(PtxLibrary library) {
    this.library = library;
  }

  PtxLibrary library() {
    return library;
  }

  /** The name of a function that the kernel calls. */
  String function(String name) {
    functions.add(name);
    return name;
  }

  /** The name of a variable with these bytes. */
  String constant(byte[] bytes) {
    List<Byte> key = new ArrayList<>(bytes.length);
    for (byte value : bytes) {
      key.add(value);
    }
    return constants.computeIfAbsent(key, k -> "constant_" + constants.size());
  }

  /** The module's text with this kernel. */
  String text(String kernel) {
    StringBuilder text = new StringBuilder(HEADER);
    constants.forEach((bytes, name) -> text.append(declaration(name, bytes)));
    return text.append(library.textOf(functions)).append(kernel).toString();
  }

  private static String declaration(String name, List<Byte> bytes) {
    StringBuilder values = new StringBuilder();
    for (byte value : bytes) {
      values.append(values.length() == 0 ? "" : ", ").append(value & 0xff);
    }
    return bytes.isEmpty()
        ? String.format(Locale.ROOT, ".global .align 16 .b8 %s[1];\n", name)
        : String.format(
            Locale.ROOT, ".global .align 16 .b8 %s[%d] = {%s};\n", name, bytes.size(), values);
  }
}
