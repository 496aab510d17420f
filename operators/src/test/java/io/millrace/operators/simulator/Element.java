// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import java.util.List;

/** What travels in a channel from a subtask of the source to a subtask of the operator. */
sealed interface Element {
  record Rows(List<List<Object>> rows) implements Element {}

  record WatermarkOf(long timestamp) implements Element {}

  /**
   * A barrier.
   *
   * @param overtakes whether the checkpoint is unaligned, so that the barrier overtakes rows
   */
  record Barrier(SimulatedCheckpoint checkpoint, boolean overtakes) implements Element {}
}
