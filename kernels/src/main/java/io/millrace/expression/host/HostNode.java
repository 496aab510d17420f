// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import java.util.Arrays;
import java.util.Set;

/**
 * One expression of a host evaluation. Each row is computed at most once: computed rows are kept
 * until the next chunk.
 */
abstract class HostNode {
  private final HostVector vector;
  // null until a subset of the rows is requested.
  private boolean[] evaluated;
  private int[] missing;
  private boolean allEvaluated;
  private boolean someEvaluated;

  HostNode(HostVector vector) {
    this.vector = vector;
  }

  /** Depth of nested calls; 0 for other nodes. */
  int callDepth() {
    return 0;
  }

  /** Adds the next calls on each path down whose depth is a multiple of the landing depth. */
  void addLandings(Set<HostNode> landings) {}

  /** Returns a vector with the values of {@code rows}, and of rows that were requested before. */
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

  /** Invalidates all rows. */
  void startChunk() {
    if (someEvaluated) {
      Arrays.fill(evaluated, false);
    }
    someEvaluated = false;
    allEvaluated = false;
    vector.clear();
  }

  final HostVector vector() {
    return vector;
  }

  /** Computes {@code rows}, none of which has been computed in this chunk. */
  abstract void compute(Rows rows, HostVector result);
}
