// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import static java.util.stream.Collectors.joining;

import java.util.List;

/**
 * A call path that allocates memory: the lines of this project that lead there, the one that asks
 * first and the one that Flink, or JUnit, called last. Lines of the memory layer, which hand a
 * request on, are not among them.
 */
record AllocationSite(List<SourceLine> lines) {

  /** The line that asks. */
  SourceLine call() {
    return lines.get(0);
  }

  @Override
  public String toString() {
    return lines.stream().map(SourceLine::toString).collect(joining(" < "));
  }
}
