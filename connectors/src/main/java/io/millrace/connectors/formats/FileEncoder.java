// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.Schema;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/** A format of files that tables are written to. */
@PublicEvolving
public interface FileEncoder extends Serializable {

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
}
