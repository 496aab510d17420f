// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.Schema;
import io.millrace.connectors.formats.MalformedLineException;
import io.millrace.format.RecordReader;
import io.millrace.operators.context.DeviceContext;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/** A format of records with its columns, as a job is built with it. Used by one thread. */
@PublicEvolving
public interface RecordFormat extends Serializable {

  /** The columns of the rows. */
  Schema schema();

  /**
   * The format of records behind a header, such as the first line of a file, which names their
   * fields. By default this format.
   *
   * @param header without its line feed
   * @throws MalformedLineException if the header does not fit the columns
   */
  default RecordFormat withHeader(byte[] header) throws MalformedLineException {
    return this;
  }

  /** Whether a reader gets records in pinned host memory, not on the operator's device. */
  default boolean isReadOnHost() {
    return false;
  }

  /**
   * A reader of the columns into the memory of the operator's device, which the caller closes.
   *
   * @param context of the operator; stays open as long as the reader
   */
  RecordReader createReader(DeviceContext context);

  /**
   * What is wrong with a record, in one sentence, with the value if that is known.
   *
   * @param record a record that the reader found malformed, without its line feed
   * @param reason the reader's
   */
  String reason(byte[] record, String reason);
}
