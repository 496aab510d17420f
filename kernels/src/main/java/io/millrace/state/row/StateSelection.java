// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import java.util.Objects;

/**
 * Rows of a state table whose times are in a range, of which one of some words is not zero, or with
 * a number in a range, with addresses on the device that are valid until the work on {@code stream}
 * is done.
 *
 * @param firstRow the first row that is looked at
 * @param rows how many rows are looked at: at least 1, and at most those of a chunk
 * @param firstWord the position in a row of the first of the words that decide
 * @param words how many these are: a row is selected if one of them is in the range
 * @param added what is added to the first word of the copies
 * @param first expires the rows before the range
 * @param end expires the rows before the end of the range
 * @param chunkTable the address of an INT64 for each chunk of state rows: its address
 * @param target address of room for all rows, where the selected ones are copied to, one behind the
 *     other in their order; 0 if they are only counted
 * @param lookBack address of {@link LongStrings#lookBackBytes} bytes for so many rows
 */
@Internal
public record StateSelection(
    StateSchema schema,
    long firstRow,
    int rows,
    int firstWord,
    int words,
    long added,
    Expiry first,
    Expiry end,
    long chunkTable,
    int chunkShift,
    long target,
    long lookBack,
    DeviceStream stream) {

  /**
   * A selection of rows whose times are in a range.
   *
   * @param firstTime of the range
   * @param endTime behind the range
   * @throws IndexOutOfBoundsException if the table does not have the rows
   * @throws IllegalStateException if rows have no time
   */
  public static StateSelection of(
      StateAccess access,
      long firstRow,
      int rows,
      long firstTime,
      long endTime,
      DeviceStream stream) {
    Objects.checkFromIndexSize(firstRow, rows, access.rowCount());
    StateSchema schema = access.schema();
    return new StateSelection(
        schema,
        firstRow,
        rows,
        schema.firstAccumulator(),
        1,
        0,
        schema.expiryBefore(firstTime),
        schema.expiryBefore(endTime),
        access.chunkTable(),
        access.chunkShift(),
        0,
        0,
        stream);
  }

  /**
   * A selection of rows of which one of some words is not zero: zero is the end of the range of
   * complements.
   *
   * @param firstWord the position of the first of the words in a row
   * @param words how many words there are
   * @throws IndexOutOfBoundsException if the table does not have the rows
   */
  public static StateSelection ofNonZero(
      StateAccess access, long firstRow, int rows, int firstWord, int words, DeviceStream stream) {
    Objects.checkFromIndexSize(firstRow, rows, access.rowCount());
    return new StateSelection(
        access.schema(),
        firstRow,
        rows,
        firstWord,
        words,
        0,
        new Expiry(0, -1),
        new Expiry(-1, -1),
        access.chunkTable(),
        access.chunkShift(),
        0,
        0,
        stream);
  }

  /**
   * A selection of rows with a number in a range.
   *
   * @param word the position in a row of the number, a BIGINT or a time
   * @param added what is added to the number in the copies
   * @param first number of the range
   * @param end the number behind the range
   * @throws IndexOutOfBoundsException if the table does not have the rows
   */
  public static StateSelection ofNumbers(
      StateAccess access,
      long firstRow,
      int rows,
      int word,
      long added,
      long first,
      long end,
      DeviceStream stream) {
    Objects.checkFromIndexSize(firstRow, rows, access.rowCount());
    // Signed numbers in the order of unsigned ones.
    long mask = Long.MIN_VALUE;
    return new StateSelection(
        access.schema(),
        firstRow,
        rows,
        word,
        1,
        added,
        new Expiry(first ^ mask, mask),
        new Expiry(end ^ mask, mask),
        access.chunkTable(),
        access.chunkShift(),
        0,
        0,
        stream);
  }

  private static final PerDevice<Kernels> KERNELS =
      new PerDevice<>(host -> new HostStateSelect(), CudaStateSelect::new);

  /** Selects rows, on the host or by the kernel of state_select.cu. */
  interface Kernels {
    /** Waits for the work. Allocates nothing but staging memory, and that first. */
    Counts select(StateSelection selection);
  }

  /**
   * What was selected.
   *
   * @param stringWords words of the long strings of the rows
   */
  public record Counts(int rows, long stringWords) {}

  /**
   * Selects the rows and waits for the work. Allocates nothing but staging memory.
   *
   * @param copies the {@code target}
   * @param scratch the {@code lookBack}
   */
  public Counts run(long copies, long scratch) {
    return KERNELS
        .of(stream.device())
        .select(
            new StateSelection(
                schema,
                firstRow,
                rows,
                firstWord,
                words,
                added,
                first,
                end,
                chunkTable,
                chunkShift,
                copies,
                scratch,
                stream));
  }

  boolean isSelected(long value) {
    return !first.isExpired(value) && end.isExpired(value);
  }
}
