// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

/** A line of a class. Nested and local classes count as separate classes. */
record SourceLine(String className, int line) {
  @Override
  public String toString() {
    return className.substring(className.lastIndexOf('.') + 1) + ":" + line;
  }
}
