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

  /** The start of a file, before its tables; mostly empty. */
  default byte[] fileStart(Schema schema) {
    return new byte[0];
  }

  /** The end of a file, behind its tables; mostly empty. */
  default byte[] fileEnd() {
    return new byte[0];
  }

  /** The suffix of file names, such as {@code .csv}. */
  String fileSuffix();

  /**
   * The rows of {@code table} as they stand in a file.
   *
   * @param table in host memory; stays the caller's
   * @param scope on a host stream
   */
  byte[] encode(Table table, AccessScope scope);
}
