// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batch;

import io.millrace.column.Table;
import org.apache.flink.annotation.Internal;

/**
 * A table that is made when a {@link ColumnBatch} is first asked for it. Until then only memory
 * that is garbage-collected is held.
 */
@Internal
@FunctionalInterface
public interface LazyTable {

  /** Makes the table, which the caller owns. Called once at most. */
  Table load();
}
