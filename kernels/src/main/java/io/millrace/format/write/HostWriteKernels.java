// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.device.HostMemory;

/** The twin of write.cu. */
final class HostWriteKernels implements WriteKernels {
  @Override
  public long scratchBytes(int count) {
    return 0;
  }

  @Override
  public void measure(Rows rows) {
    TextSink sink = TextSink.counting(rows.plan().delimiter());
    RowWriter writer = new RowWriter(rows.plan(), rows.columns(), sink);
    for (int row = 0; row < rows.count(); row++) {
      putPosition(rows, row, sink.bytes());
      writer.put(row);
    }
    putPosition(rows, rows.count(), sink.bytes());
    HostMemory.putLong(rows.result(), sink.bytes());
  }

  private static void putPosition(Rows rows, int row, long position) {
    HostMemory.putInt(rows.positions() + (long) row * Integer.BYTES, (int) position);
  }

  @Override
  public void write(Rows rows, long bytes) {
    TextSink sink = TextSink.writing(bytes, rows.plan().delimiter());
    RowWriter writer = new RowWriter(rows.plan(), rows.columns(), sink);
    for (int row = 0; row < rows.count(); row++) {
      writer.put(row);
    }
  }
}
