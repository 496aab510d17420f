// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.ptx;

import io.millrace.annotation.Internal;
import java.util.Locale;

/** Writes the instructions of one generated kernel, and names its registers and labels. */
@Internal
public final class PtxWriter {
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder declarations = new StringBuilder();
  private int registers;
  private int labels;

  /** Writes one instruction; the semicolon is added. The format is {@link String#format}'s. */
  public PtxWriter write(String format, Object... arguments) {
    text.append("  ").append(String.format(Locale.ROOT, format, arguments)).append(";\n");
    return this;
  }

  /**
   * Declares a register.
   *
   * @param type such as {@code .b32}, {@code .b64}, {@code .f64} or {@code .pred}
   */
  public String register(String type) {
    String name = "%v" + registers++;
    declarations.append("  .reg ").append(type).append(' ').append(name).append(";\n");
    return name;
  }

  /** A label that no other place has; {@link #place} it once. */
  public String label() {
    return "$L" + labels++;
  }

  /** Puts the label here. */
  public PtxWriter place(String label) {
    text.append(label).append(":\n");
    return this;
  }

  /** Writes text as it is, with an end of line. */
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
