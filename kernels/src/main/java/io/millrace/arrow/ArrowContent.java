// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.NotNullCheck;
import io.millrace.device.HostMemory;
import io.millrace.memory.Buffer;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.apache.arrow.vector.types.pojo.Field;

/** Checks of what Arrow's buffers hold, where the host can read them. */
@Internal
public final class ArrowContent {
  private ArrowContent() {}

  /**
   * Checks that offsets ascend and fit 31 bits.
   *
   * @param address of {@code count} offsets of {@code width} bytes each
   * @throws ArrowFormatException if an offset is below 0, above 2^31 - 1 or below its predecessor
   */
  public static void checkOffsets(Field field, long address, long count, int width)
      throws ArrowFormatException {
    long previous = 0;
    for (long i = 0; i < count; i++) {
      long at = address + i * width;
      long offset = width == Long.BYTES ? HostMemory.getLong(at) : HostMemory.getInt(at);
      if (offset < previous || offset > Integer.MAX_VALUE) {
        throw misfit(field, "the offset " + offset + " behind " + previous + " in row " + i);
      }
      previous = offset;
    }
  }

  /**
   * Checks that the codes of a dictionary column are positions in its values.
   *
   * @param address of {@code length} codes of 32 bits
   * @param mask the address of their mask; 0 if no code is null
   * @throws ArrowFormatException if a code that is not null is no position in {@code values}
   */
  public static void checkCodes(Field field, long address, int length, long mask, Column values)
      throws ArrowFormatException {
    for (int i = 0; i < length; i++) {
      int code = HostMemory.getInt(address + (long) i * Integer.BYTES);
      boolean isNull = mask != 0 && !HostMemory.getBit(mask, i);
      if (!isNull && (code < 0 || code >= values.size())) {
        throw misfit(field, "the code " + code + " for a dictionary of " + values.size());
      }
    }
  }

  /**
   * Checks that columns of NOT NULL fields have no nulls.
   *
   * @param addresses where the host reads a buffer of the columns
   * @throws ArrowFormatException if there are nulls in a NOT NULL field
   */
  public static void checkNulls(
      List<DataType.Field> fields, List<Column> columns, ToLongFunction<Buffer> addresses)
      throws ArrowFormatException {
    check(NotNullCheck.failure(fields, columns, addresses));
  }

  /** As {@link #checkNulls}, for the table whose rows are the elements of a struct column. */
  public static void checkRows(Column rows, ToLongFunction<Buffer> addresses)
      throws ArrowFormatException {
    check(NotNullCheck.failureInRows(rows, addresses));
  }

  private static void check(Optional<String> failure) throws ArrowFormatException {
    if (failure.isPresent()) {
      throw new ArrowFormatException(failure.get());
    }
  }

  /** An error that states what the array of {@code field} has instead of the expected content. */
  public static ArrowFormatException misfit(Field field, String what) {
    return new ArrowFormatException(
        "column '"
            + ArrowSchemaConverter.nameOf(field)
            + "' ("
            + field.getType()
            + ") has "
            + what);
  }
}
