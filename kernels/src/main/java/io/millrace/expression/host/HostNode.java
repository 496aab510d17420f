// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import java.util.Arrays;
import java.util.Set;

/**
 * One expression of a host evaluation, which computes each row at most once: rows that were asked
 * for before are kept until the next chunk of rows.
 */
abstract class HostNode {
  private final HostVector vector;
  // null before the first time that not all rows are asked for.
  private boolean[] evaluated;
  private int[] missing;
  private boolean allEvaluated;
  private boolean someEvaluated;

  HostNode(HostVector vector) {
    this.vector = vector;
  }

  /** Of calls within calls; 0 of what is no call. */
  int callDepth() {
    return 0;
  }

  /** Adds the next calls on each way down whose depth is a multiple of that of a landing. */
  void addLandings(Set<HostNode> landings) {}

  /** The values of {@code rows}, and of other rows that were asked for. */
  final HostVector evaluate(Rows rows) {
    if (!allEvaluated && rows.count() > 0) {
      if (rows.isDense() && !someEvaluated) {
        allEvaluated = true;
        compute(rows, vector);
      } else {
        computeMissing(rows);
      }
    }
    return vector;
  }

  private void computeMissing(Rows rows) {
    if (evaluated == null) {
      evaluated = new boolean[vector.capacity()];
      missing = new int[vector.capacity()];
    }
    int count = 0;
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      if (!evaluated[row]) {
        evaluated[row] = true;
        missing[count++] = row;
      }
    }
    someEvaluated = true;
    allEvaluated = rows.isDense();
    if (count > 0) {
      compute(count == rows.count() ? rows : rows.of(missing, count), vector);
    }
  }

  /** Forgets all rows. */
  void startChunk() {
    if (someEvaluated) {
      Arrays.fill(evaluated, false);
    }
    someEvaluated = false;
    allEvaluated = false;
    vector.clearNulls();
  }

  final HostVector vector() {
    return vector;
  }

  /** Writes the values of {@code rows}, of which none was computed in this chunk. */
  abstract void compute(Rows rows, HostVector result);
}
