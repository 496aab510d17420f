// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;

/**
 * Writes the rows of tables as records of one format, on the device of the stream that it was made
 * with. Used by one thread; closed once.
 */
@PublicEvolving
public interface RecordWriter extends AutoCloseable {

  /**
   * Writes each row as a record, in the order of the rows: makes one attempt. A record of a format
   * of lines ends with a line feed. Waits for the number of bytes.
   *
   * @param table of the writer's schema; stays the caller's
   * @return the records, which are the caller's
   * @throws GpuOutOfMemoryException if there is too little memory; the table can be written again
   */
  RecordBytes write(Table table);

  @Override
  void close();
}
