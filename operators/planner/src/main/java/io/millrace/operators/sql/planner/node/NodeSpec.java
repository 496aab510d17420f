// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import java.util.List;
import org.apache.flink.annotation.Internal;

/** What a node of Millrace is to do. */
@Internal
public interface NodeSpec {
  /** Why the host does parts of the work where there is a GPU; empty if the GPU does all. */
  default List<String> hostReasons() {
    return List.of();
  }

  /** Whether the host does all that costs time in it, even where there is a GPU. */
  default boolean isWorkOfHost() {
    return false;
  }

  /** Whether the node does too little to be worth making batches of rows, and rows of batches. */
  default boolean isCheap() {
    return false;
  }
}
