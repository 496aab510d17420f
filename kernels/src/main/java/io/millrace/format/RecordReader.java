// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.GpuOutOfMemoryException;

/**
 * Reads records of one format into columns, on the device of the stream that it was made with. Used
 * by one thread; closed once.
 */
@PublicEvolving
public interface RecordReader extends AutoCloseable {

  /**
   * Reads records: makes one attempt. Waits for the stream.
   *
   * @param records stay the caller's
   * @return the rows, in the order of the records, and the records that are not rows; the caller's
   * @throws GpuOutOfMemoryException if there is too little memory, or a column would have 2 Gi
   *     bytes or more; the records can be read again
   */
  ParsedRecords read(RecordBytes records);

  @Override
  void close();
}
