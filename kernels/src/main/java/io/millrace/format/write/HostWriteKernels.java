// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.device.HostMemory;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;

/** The twin of write.cu, which writes each record at once: memory grows if it has to. */
final class HostWriteKernels implements WriteKernels {
  // Most strings are shorter: rather too much room than a copy.
  private static final int BYTES_OF_STEP = 24;

  @Override
  public long scratchBytes(int count) {
    return 0;
  }

  @Override
  public Buffer write(Rows rows, MemoryResource memory) {
    WritePlan plan = rows.plan();
    long textBytes = plan.bytes() - (long) plan.size() * WriteStep.Layout.LAYOUT.bytes();
    long capacity = (textBytes + (long) plan.size() * BYTES_OF_STEP) * rows.count();
    try (TextSink sink = new TextSink(capacity, plan.delimiter(), rows.stream(), memory)) {
      RowWriter writer = new RowWriter(plan, rows.columns(), sink);
      for (int row = 0; row < rows.count(); row++) {
        putPosition(rows, row, sink.bytes());
        writer.put(row);
      }
      TextSink.checkSize(sink.bytes());
      putPosition(rows, rows.count(), sink.bytes());
      return sink.finish();
    }
  }

  private static void putPosition(Rows rows, int row, long position) {
    HostMemory.putInt(rows.positions() + (long) row * Integer.BYTES, (int) position);
  }
}
