package io.millrace.connectors.formats;

import io.millrace.column.Schema;
import java.io.Serializable;
import java.util.Optional;
import org.apache.flink.table.data.RowData;

/** Parses the lines of a text format into rows. Used by one thread. */
public interface LineParser extends Serializable {

  /** What the rows are. */
  Schema schema();

  /**
   * Parses one line.
   *
   * @param line without its line end
   * @param first whether it is its file's first line, which may be a header
   * @return a new row, or empty if the line has none: a header or a blank line
   * @throws MalformedLineException if the line does not fit the format or the schema
   */
  Optional<RowData> parse(byte[] line, boolean first) throws MalformedLineException;
}
