// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.ptx;

import io.millrace.annotation.Internal;
import java.util.Locale;

/** Writes the instructions of one generated kernel and allocates registers and labels. */
@Internal
public final class PtxWriter {
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder declarations = new StringBuilder();
  private int registers;
  private int labels;

  /** Writes one instruction without its semicolon, in the syntax of {@link String#format}. */
  public PtxWriter write(String format, Object... arguments) {
    text.append("  ").append(String.format(Locale.ROOT, format, arguments)).append(";\n");
    return this;
  }

  /**
   * Declares a register of a PTX type.
   *
   * @param type such as {@code .b32}, {@code .b64}, {@code .f64} or {@code .pred}
   */
  public String register(String type) {
    String name = "%v" + registers++;
    declarations.append("  .reg ").append(type).append(' ').append(name).append(";\n");
    return name;
  }

  /** Creates a unique label, to be placed once with {@link #place}. */
  public String label() {
    return "$L" + labels++;
  }

  /** Places the label at the current position. */
  public PtxWriter place(String label) {
    text.append(label).append(":\n");
    return this;
  }

  /** Writes a line of text without formatting. */
  PtxWriter raw(String line) {
    text.append(line).append('\n');
    return this;
  }

  public String declarations() {
    return declarations.toString();
  }

  public String text() {
    return text.toString();
  }
}
