// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.operators.wire.EncodedSize;

/** Cuts host tables into slices that have at most a given number of bytes when encoded. */
final class ByteSlicer {
  private final long maximumBytes;
  private final DeviceStream hostStream;

  /** Takes slices, in order. */
  @FunctionalInterface
  interface Output {
    /** Takes ownership of {@code slice}. */
    void accept(Table slice, long encodedBytes);
  }

  ByteSlicer(long maximumBytes, DeviceStream hostStream) {
    this.maximumBytes = maximumBytes;
    this.hostStream = hostStream;
  }

  /**
   * Passes rows {@code [start, start + rows)} to {@code output}; rows that have too many bytes are
   * halved until each slice fits. A single row is passed whatever its size. Without rows, no slice
   * is passed.
   */
  void slice(Table table, int start, int rows, Output output) {
    if (rows == 0) {
      return;
    }
    Table slice = table.slice(start, rows);
    long bytes;
    try {
      bytes = EncodedSize.upperBound(slice, hostStream);
    } catch (RuntimeException | Error e) {
      slice.close();
      throw e;
    }
    if (bytes <= maximumBytes || rows == 1) {
      output.accept(slice, bytes);
      return;
    }
    slice.close();
    int half = rows / 2;
    slice(table, start, half, output);
    slice(table, start + half, rows - half, output);
  }
}
