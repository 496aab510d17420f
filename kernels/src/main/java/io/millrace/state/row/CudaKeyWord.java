// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelStructure;

/** The structure {@code KeyWord} of state_arguments.cuh. */
@Internal
public final class CudaKeyWord {
  public static final KernelStructure LAYOUT = new KernelStructure("KeyWord");
  private static final KernelStructure.Int64 DATA = LAYOUT.int64("data");
  private static final KernelStructure.Int64 OFFSETS = LAYOUT.int64("offsets");
  private static final KernelStructure.Int64 VALIDITY = LAYOUT.int64("validity");
  private static final KernelStructure.Int64 ROW_OFFSET = LAYOUT.int64("row_offset");
  private static final KernelStructure.Int64 OUTPUT = LAYOUT.int64("output");
  private static final KernelStructure.Int64 OUTPUT_VALIDITY = LAYOUT.int64("output_validity");
  private static final KernelStructure.Int32 STRIDE = LAYOUT.int32("stride");
  private static final KernelStructure.Int32 WIDTH = LAYOUT.int32("width");
  private static final KernelStructure.Int32 TYPE = LAYOUT.int32("type");
  private static final KernelStructure.Int32 NULL_BIT = LAYOUT.int32("null_bit");

  private CudaKeyWord() {}

  /** Writes a word to the element of an array at {@code at}. */
  public static void put(KernelArguments arguments, int at, KeyWord word) {
    arguments
        .put(at, DATA, word.data())
        .put(at, OFFSETS, word.offsets())
        .put(at, VALIDITY, word.validity())
        .put(at, ROW_OFFSET, word.rowOffset())
        .put(at, OUTPUT, word.output())
        .put(at, OUTPUT_VALIDITY, word.outputValidity())
        .put(at, STRIDE, word.stride())
        .put(at, WIDTH, word.width())
        .put(at, TYPE, word.type())
        .put(at, NULL_BIT, word.nullBit());
  }
}
