// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.operators.sql.planner.node.MillraceRel;

/** A node in front of an exchange that is, or ends with, the first phase of aggregates by key. */
interface FirstPhaseRel extends MillraceRel {
  /** The first phase; the node has to be supported. */
  LocalGroupAggregateSpec firstPhase();
}
