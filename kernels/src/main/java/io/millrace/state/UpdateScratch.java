// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.StateSchema;

/** The scratch memory of the updates of a table. Used by one thread. */
final class UpdateScratch implements AutoCloseable {
  private final StateSchema schema;
  private final DeviceStream stream;
  private final MemoryResource memory;
  // null if there is none.
  private Buffer buffer;
  private StateScratch layout;
  private int rows;
  private int batchNumber;

  UpdateScratch(StateSchema schema, DeviceStream stream, MemoryResource memory) {
    this.schema = schema;
    this.stream = stream;
    this.memory = memory;
  }

  /**
   * The address of memory for the next batch. Updates leave zeros where they found zeros, or
   * numbers of batches, so that the memory is cleared only when it is new and when the numbers
   * begin again.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  long access(int batchRows, AccessScope scope) {
    if (buffer == null || rows < batchRows) {
      StateScratch larger = StateScratch.of(batchRows, schema.partialWords(), schema.isOrdered());
      Buffer allocated = Buffer.allocate(larger.bytes(), stream, memory);
      close();
      buffer = allocated;
      layout = larger;
      rows = batchRows;
      batchNumber = 0;
    }
    long address = buffer.access(AccessMode.WRITE, scope);
    if (batchNumber == 0) {
      stream.fill(address, (byte) 0, layout.zeroBytes());
      batchNumber = 1;
    } else {
      batchNumber++;
    }
    return address;
  }

  /** The layout of the memory that was accessed last. */
  StateScratch layout() {
    return layout;
  }

  /** The number of the batch that accessed the memory last. */
  int batchNumber() {
    return batchNumber;
  }

  /** Gives the memory back; the next access allocates it again. */
  @Override
  public void close() {
    if (buffer != null) {
      buffer.close();
      buffer = null;
    }
  }
}
