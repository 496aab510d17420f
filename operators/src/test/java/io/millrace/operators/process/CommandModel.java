// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import java.util.List;

/** A simple program that says what a function emits for its rows. */
public interface CommandModel {
  /** The row that is emitted for a row; null for none. */
  List<Object> process(List<Object> command);

  CommandModel copy();
}
