// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.Schema;
import io.millrace.connectors.formats.MalformedLineException;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.operators.context.DeviceContext;
import java.io.Serializable;
import java.util.Optional;
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

  /** Why rows cannot be filtered while they are read; empty if they can. By default none can. */
  default Optional<String> unsupported(RecordFilter filter) {
    return Optional.of("records of this format are not filtered while they are read");
  }

  /**
   * Checks a filter before there is a device to read records on.
   *
   * @throws IllegalArgumentException if {@link #unsupported} says why rows cannot be filtered
   */
  default void checkSupported(RecordFilter filter) {
    unsupported(filter)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException("rows cannot be filtered: " + why);
            });
  }

  /**
   * A reader of the columns into the memory of the operator's device, which the caller closes.
   *
   * @param context of the operator; stays open as long as the reader
   * @param filter for which {@link #unsupported} is empty; empty to keep all rows
   */
  RecordReader createReader(DeviceContext context, Optional<RecordFilter> filter);

  /**
   * What is wrong with a record, in one sentence, with the value if that is known.
   *
   * @param record a record that the reader found malformed, without its line feed
   * @param reason the reader's
   */
  String reason(byte[] record, String reason);
}
