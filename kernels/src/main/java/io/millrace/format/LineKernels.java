// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;

/** The operation of lines.cu, on the host or by its kernel. Addresses are on the device. */
interface LineKernels {

  /**
   * Writes the position of each line, and the size of the text behind them, as INT32s. Waits for
   * the work.
   *
   * @param size of the text: at least 1
   * @param quotes within which a line feed ends no line; null if each line feed ends one
   * @param starts the positions; those that {@code capacity} has no room for are not written
   * @return the number of lines; the positions are whole if it is less than {@code capacity}
   */
  int find(
      long text,
      int size,
      FieldQuotes quotes,
      long starts,
      int capacity,
      DeviceStream stream,
      MemoryResource memory);
}
