// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.typed.BatchValue;
import io.millrace.expression.typed.InputPath;
import java.util.List;

/**
 * A calc as a generated kernel with its parameters. The kernel's only argument is a structure of
 * 64-bit words in this order: {@link Word}s, {@value #INPUT_WORDS} per input column, {@value
 * #OUTPUT_WORDS} per output column, one per constant table, one per scratch memory.
 *
 * @param ptx a module with the kernel {@value #KERNEL}
 * @param inputs the columns that the kernel reads
 * @param outputs the columns that the kernel writes
 * @param scratches maximum size of each scratch memory
 * @param tables number of constant tables
 * @param hasFilter whether there is a condition, so that the kernel counts rows
 * @param mayNeedHost whether rows may fail or need the host, so that the host must check
 * @param rowsPerIteration rows per thread and iteration
 * @param isMultiPass whether threads may iterate more than once
 */
@Internal
public record CalcProgram(
    String ptx,
    List<InputPath> inputs,
    List<Output> outputs,
    List<RowSizeLimit> scratches,
    int tables,
    boolean hasFilter,
    boolean mayNeedHost,
    int rowsPerIteration,
    boolean isMultiPass) {

  static final String KERNEL = "calc";
  static final int THREADS = 256;
  static final int WARPS = THREADS / 32;
  static final int INPUT_WORDS = 4;
  static final int OUTPUT_WORDS = 3;

  /** Fixed words of the argument structure. */
  enum Word {
    /** The row count, or an upper bound. */
    ROWS(0),
    /** Device address of the row count, or 0. */
    DEVICE_ROWS(1),
    /**
     * Address of a 32-bit tile counter that starts at 0, or 0 if the tile of a block is its number.
     */
    TILE_COUNTER(2),
    /** Address of a 32-bit flag that is set if the host must evaluate rows. */
    NEEDS_HOST(3),
    /** Address of the zeroed look-back words; {@link #LOOK_BACK_BYTES} per sum. */
    LOOK_BACK(4),
    LOOK_BACK_BYTES(5),
    /** Addresses for the number of output rows: host memory and device memory. */
    HOST_COUNT(6),
    DEVICE_COUNT(7),
    /** Number of iterations per thread, of {@link #rowsPerIteration} rows each. */
    ITERATIONS(8),
    /**
     * Address of a zeroed bit mask in which the kernel marks the rows that the host must evaluate.
     */
    ROWS_FOR_HOST(9),
    /** The values of the batch, each with the name of its property. */
    PROCESSING_TIME(10),
    WATERMARK(11),
    RANDOM_SEED(12),
    FIRST_ROW(13);

    static final int COUNT = 14;

    private final int index;

    Word(int index) {
      this.index = index;
    }

    static Word of(BatchValue.Property property) {
      return valueOf(property.name());
    }

    int offset() {
      return index * Long.BYTES;
    }
  }

  /** Words of an input column; addresses refer to its first element. */
  enum InputWord {
    /** Values, bytes, or first parts. */
    DATA(0),
    /** Offsets or second parts. */
    SECOND_PART(1),
    /** The mask, or 0. */
    VALIDITY(2),
    /** Bit index of the first element in the mask. */
    BIT_OFFSET(3);

    private final int index;

    InputWord(int index) {
      this.index = index;
    }
  }

  /** Words of an output column. */
  enum OutputWord {
    DATA(0),
    SECOND_PART(1),
    VALIDITY(2);

    private final int index;

    OutputWord(int index) {
      this.index = index;
    }
  }

  /**
   * A column that the kernel writes.
   *
   * @param bound size limit of a column of bytes; null for other columns
   * @param nullable whether the column has a mask
   */
  record Output(DataType type, RowSizeLimit bound, boolean nullable) {}

  /**
   * Number of sums in the look-back: selected rows, and the bytes of each output column of bytes.
   */
  int sums() {
    long bytes = outputs.stream().filter(output -> output.type().id().isVariableWidth()).count();
    return (hasFilter ? 1 : 0) + (int) bytes;
  }

  static int inputOffset(int input, InputWord word) {
    return (Word.COUNT + input * INPUT_WORDS + word.index) * Long.BYTES;
  }

  static int outputOffset(int inputs, int output, OutputWord word) {
    return inputOffset(inputs, InputWord.DATA) + (output * OUTPUT_WORDS + word.index) * Long.BYTES;
  }

  static int tableOffset(int inputs, int outputs, int table) {
    return outputOffset(inputs, outputs, OutputWord.DATA) + table * Long.BYTES;
  }

  int tableOffset(int table) {
    return tableOffset(inputs.size(), outputs.size(), table);
  }

  int scratchOffset(int scratch) {
    return tableOffset(tables + scratch);
  }

  int argumentBytes() {
    return scratchOffset(scratches.size());
  }
}
