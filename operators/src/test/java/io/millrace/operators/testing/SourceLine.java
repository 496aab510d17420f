// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

/** A line of a class, nested and local classes being classes of their own. */
record SourceLine(String className, int line) {
  @Override
  public String toString() {
    return className.substring(className.lastIndexOf('.') + 1) + ":" + line;
  }
}
