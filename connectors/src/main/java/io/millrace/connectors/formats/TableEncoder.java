// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import org.apache.flink.annotation.PublicEvolving;

/** Turns tables into pieces of a file, on the host. Used by one thread. */
@PublicEvolving
public interface TableEncoder extends FileEncoder {

  /**
   * The rows of {@code table} as they stand in a file.
   *
   * @param table in host memory; stays the caller's
   * @param scope on a host stream
   */
  byte[] encode(Table table, AccessScope scope);
}
