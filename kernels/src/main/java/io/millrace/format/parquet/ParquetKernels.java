// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;

/** The operations of parquet.cu, on the host or by its kernels. Addresses are on the device. */
interface ParquetKernels {
  PerDevice<ParquetKernels> KERNELS =
      new PerDevice<>(host -> new HostParquetKernels(), CudaParquetKernels::new);

  /**
   * Pages to be decoded, of at least one row.
   *
   * @param bytes of all pages
   * @param words runs and starts, INT32
   * @param pages {@link PageStructures.Page}, in the order of columns and rows
   * @param columns {@link PageStructures.Column}, at least one
   * @param scratch of {@link #scratchBytes}
   * @param result of {@link #resultBytes}, zero before, which the host and the device reach
   * @param strings how many columns are byte arrays
   */
  record Pages(
      long bytes,
      long words,
      long pages,
      long columns,
      long scratch,
      long result,
      int rows,
      int columnCount,
      int strings,
      DeviceStream stream) {

    /** The address of an INT32 that is 1 if a code of the column is not in its dictionary. */
    long badCode(int column) {
      return result + (long) column * Integer.BYTES;
    }

    /** The address of the INT64 number of bytes of a column of byte arrays. */
    long total(int string) {
      return result + flagBytes(columnCount) + (long) string * Long.BYTES;
    }
  }

  private static long flagBytes(int columns) {
    return (columns / 2 + 1L) * Long.BYTES;
  }

  static long resultBytes(int columns, int strings) {
    return flagBytes(columns) + (long) strings * Long.BYTES;
  }

  /** Bytes of scratch memory. */
  long scratchBytes(int rows, int strings);

  /**
   * Decodes all values but the bytes of byte arrays. What is null has zeros for its value. Waits
   * for the work.
   */
  void decode(Pages pages);

  /**
   * Copies the bytes of byte arrays, of at least one row. Enqueued.
   *
   * @param columns {@link PageStructures.StringColumn}
   * @param count of the columns, at least 1
   */
  void copyStrings(Pages pages, long columns, int count);
}
