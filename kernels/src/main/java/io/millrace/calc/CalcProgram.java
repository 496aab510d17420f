// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import java.util.List;

/**
 * A calc as a generated kernel, with what it takes: the words of its one argument structure, in
 * this order: {@link Word}s, {@value #INPUT_WORDS} an input column, {@value #OUTPUT_WORDS} an
 * output column, one a table of constants, one a scratch memory.
 *
 * @param ptx a module with the kernel {@value #KERNEL}
 * @param inputs the columns that it reads, by their index in the input table
 * @param outputs the columns that it writes
 * @param scratches how many bytes of scratch memory there are at most
 * @param tables how many tables of constants its functions read
 * @param hasFilter whether there is a condition, so that the kernel counts its rows
 * @param mayNeedHost whether rows may fail or need the host, so that the host must look
 * @param rowsPerIteration rows that each thread computes beside each other
 * @param isMultiPass whether threads may do so more than once
 */
@Internal
public record CalcProgram(
    String ptx,
    List<Integer> inputs,
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

  /** Words of 64 bits of the argument structure. */
  enum Word {
    /** The rows, or the most that there may be. */
    ROWS(0),
    /** Where the device has the row count, or 0. */
    DEVICE_ROWS(1),
    /** A 32-bit counter of tiles that starts at 0; 0 if a block's tile is its number. */
    TILE_COUNTER(2),
    /** A 32-bit flag that is set if the host must evaluate some rows. */
    NEEDS_HOST(3),
    /** The words of the look-back, zeros; {@link #LOOK_BACK_BYTES} a sum. */
    LOOK_BACK(4),
    LOOK_BACK_BYTES(5),
    /** Where the number of output rows is written for the host, and for the device. */
    HOST_COUNT(6),
    DEVICE_COUNT(7),
    /** How often each thread computes {@link #rowsPerIteration} rows. */
    ITERATIONS(8),
    /** A bit a row, zeros, of which those of the rows that the host must evaluate are set. */
    ROWS_FOR_HOST(9);

    static final int COUNT = 10;

    private final int index;

    Word(int index) {
      this.index = index;
    }

    int offset() {
      return index * Long.BYTES;
    }
  }

  /** Words of an input column: memory of its first element on. */
  enum InputWord {
    /** Values, or bytes, or the first part's values. */
    DATA(0),
    /** Offsets, or the second part's values. */
    SECOND_PART(1),
    /** The mask, or 0. */
    VALIDITY(2),
    /** Which bit of the mask is the first element's. */
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
   * @param bound of a column of bytes, how many there are at most; else null
   * @param nullable whether it has a mask
   */
  record Output(DataType type, RowSizeLimit bound, boolean nullable) {}

  /** Sums that blocks look back for: rows kept, and the bytes of each output column of bytes. */
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
