// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Where the pages of a subtask's tables lie at a checkpoint.
 *
 * @param files by their identifiers
 * @param tables of one state after the other, each state's in the order of their namespaces
 */
record PageIndex(Map<UUID, StreamStateHandle> files, List<TablePages> tables) {
  static final PageIndex EMPTY = new PageIndex(Map.of(), List.of());

  /**
   * The rows of one page: blocks of {@link StateFormat}, which no other page refers to.
   *
   * @param offset in the file
   */
  record Page(UUID file, long offset, long bytes) {}

  /**
   * The pages of a table.
   *
   * @param tableId of {@link io.millrace.state.StateSnapshot#tableId}, which is not written
   * @param epoch of the snapshot, likewise
   * @param pageRows rows of a page; the last one may have fewer
   */
  record TablePages(long tableId, long epoch, int pageRows, List<Page> pages) {}

  /** The tables by {@link TablePages#tableId}. */
  Map<Long, TablePages> tablesById() {
    Map<Long, TablePages> byId = new HashMap<>();
    tables.forEach(table -> byId.put(table.tableId, table));
    return byId;
  }
}
