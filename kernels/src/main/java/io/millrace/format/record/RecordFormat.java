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
   * Writes a string or bytes that are written otherwise than they are.
   *
   * @param field whose value it is
   * @param text at the first byte as it is written
   * @param bytes of the value
   * @param target address for them
   */
  void resolveEscapes(RecordField field, TextCursor text, int bytes, long target);

  /**
   * Why records of a schema cannot be read; empty if the format does not know the schema. Only
   * called for a format whose records name their schemas.
   *
   * @param id of a schema that the format has no steps for
   */
  default Optional<String> schemaFault(int id) {
    throw new IllegalStateException("records name no schemas");
  }

  /**
   * How the elements of a field's lists are read. Only called for fields of lists.
   *
   * @param field its number
   */
  default RecordFormat elements(int field) {
    throw new IllegalStateException("records have no lists");
  }

  /**
   * Whether elements of a list are read by programs of their own, which their numbers name; records
   * are not, as they name their programs themselves.
   */
  default boolean hasPrograms() {
    return false;
  }

  /**
   * Finds the elements of a list. Only called for lists that were read.
   *
   * @param list at the first byte of the list
   * @param number that the format gave to {@link RowBuilder#putList}
   * @param count of elements
   * @param starts address for an INT32 position of each element
   * @param ends address for the INT32 position behind each element
   * @param programs address for the INT32 number of the program that reads each element; 0 if the
   *     format has none
   */
  default void findElements(
      TextCursor list, int number, int count, long starts, long ends, long programs) {
    throw new IllegalStateException("records have no lists");
  }
}
