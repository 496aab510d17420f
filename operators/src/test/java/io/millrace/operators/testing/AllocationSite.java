// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import static java.util.stream.Collectors.joining;

import java.util.List;

/**
 * A call path that allocates memory, as lines of this project: first the line that asks for memory,
 * last the line that Flink or JUnit called. Lines of the memory layer, which pass requests on, are
 * left out.
 */
record AllocationSite(List<SourceLine> lines) {

  /** The line that asks for memory. */
  SourceLine call() {
    return lines.get(0);
  }

  @Override
  public String toString() {
    return lines.stream().map(SourceLine::toString).collect(joining(" < "));
  }
}
