// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.LongStrings;

/**
 * The strings of some rows as a column, with addresses on the device that are valid until the work
 * on {@code stream} is done.
 *
 * @param firstRow the row of the first string
 * @param rows at least 1
 * @param chunkTable address of an INT64 for each chunk of rows: its address
 * @param head the word of a row with the head of the string; see {@link KeyWord}
 * @param strings address of an INT64 for each chunk of {@link LongStrings}, its address
 * @param offsets address of an INT32 for each row of the result, and one more
 * @param bytes address of the bytes of the result; 0 as long as their number is unknown
 * @param lookBack address of {@link LongStrings#lookBackBytes} bytes
 */
@Internal
public record StringColumn(
    long firstRow,
    int rows,
    int rowWords,
    long chunkTable,
    int chunkShift,
    int head,
    long strings,
    long offsets,
    long bytes,
    long lookBack,
    DeviceStream stream) {
  private static final PerDevice<Kernels> KERNELS =
      new PerDevice<>(host -> new HostStringColumn(), CudaStringColumn::new);

  /** Writes strings, on the host or by the kernels of state_value_strings.cu. */
  interface Kernels {
    void writeOffsets(StringColumn column, long total);

    void writeBytes(StringColumn column);
  }

  /** The same with an address of the bytes. */
  public StringColumn to(long address) {
    return new StringColumn(
        firstRow,
        rows,
        rowWords,
        chunkTable,
        chunkShift,
        head,
        strings,
        offsets,
        address,
        lookBack,
        stream);
  }

  /**
   * Writes the offsets. Enqueued. Allocates nothing.
   *
   * @param total address of an INT64, on the device or in staging memory, for the number of bytes
   */
  public void writeOffsets(long total) {
    KERNELS.of(stream.device()).writeOffsets(this, total);
  }

  /** Writes the bytes behind {@link #writeOffsets}. Enqueued. Allocates nothing. */
  public void writeBytes() {
    KERNELS.of(stream.device()).writeBytes(this);
  }
}
