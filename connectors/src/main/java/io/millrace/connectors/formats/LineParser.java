// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.Schema;
import java.io.Serializable;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.table.data.RowData;

/** Parses the lines of a text format into rows. Used by one thread. */
@PublicEvolving
public interface LineParser extends Serializable {

  /** The columns of the rows. */
  Schema schema();

  /**
   * Takes the header of the file that the next lines are from, if it has one.
   *
   * @param header the file's first line, without its line end
   * @throws MalformedLineException if it does not fit the schema, so that none of the file's lines
   *     can be read
   */
  default void useHeader(byte[] header) throws MalformedLineException {}

  /**
   * Parses one line.
   *
   * @param line without its line end; not a header
   * @return a new row, or empty for a blank line
   * @throws MalformedLineException if the line does not fit the format or the schema
   */
  Optional<RowData> parse(byte[] line) throws MalformedLineException;
}
