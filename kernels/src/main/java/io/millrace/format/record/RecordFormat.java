// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;
import io.millrace.format.record.RecordKernels.Target;
import io.millrace.format.text.TextCursor;
import java.util.List;
import java.util.Optional;

/** How records of one format are read: what its kernels are told, and their twins. Immutable. */
@Internal
public interface RecordFormat {

  /** Bytes that {@link #write} writes, in whole words. */
  int bytes();

  /**
   * Writes what the kernels of the format read behind the fields.
   *
   * @param fields address of the fields, which the format may change
   * @param target address behind the fields
   */
  void write(long fields, long target);

  /**
   * Reads records on the host. The caller closes the reader.
   *
   * @param targets where the values of each field go
   * @param exact whether to round floating-point numbers that a GPU leaves undecided
   */
  RowReader rowReader(List<Target> targets, boolean exact);

  /**
   * Writes a string that has escapes without them.
   *
   * @param text at the first byte of the string
   * @param bytes of the string without escapes
   * @param target address for them
   */
  void resolveEscapes(TextCursor text, int bytes, long target);

  /**
   * Why records of a schema cannot be read; empty if the format does not know the schema. Only
   * called for a format whose records name their schemas.
   *
   * @param id of a schema that the format has no steps for
   */
  default Optional<String> schemaFault(int id) {
    throw new IllegalStateException("records name no schemas");
  }
}
