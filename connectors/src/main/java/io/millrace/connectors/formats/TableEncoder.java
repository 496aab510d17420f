// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/** Turns tables into pieces of a file. Used by one thread. */
@PublicEvolving
public interface TableEncoder extends Serializable {

  /** What a file starts with, ahead of its tables; mostly nothing. */
  default byte[] fileStart(Schema schema) {
    return new byte[0];
  }

  /** What a file ends with, behind its tables; mostly nothing. */
  default byte[] fileEnd() {
    return new byte[0];
  }

  /** What the names of files end with, such as {@code .csv}. */
  String fileSuffix();

  /**
   * The rows of {@code table} as they stand in a file.
   *
   * @param table in host memory; stays the caller's
   * @param scope on a host stream
   */
  byte[] encode(Table table, AccessScope scope);
}
