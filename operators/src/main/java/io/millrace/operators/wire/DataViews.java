// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import io.millrace.device.HostMemory;
import java.io.EOFException;
import java.io.IOException;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.core.memory.MemorySegmentWritable;

/** Copies bytes between Flink's data views and memory outside the heap. Used by one thread. */
final class DataViews {
  private static final int CHUNK_BYTES = 32 << 10;

  private final byte[] chunk = new byte[CHUNK_BYTES];

  /**
   * Writes {@code length} bytes of host memory, without an intermediate copy if the view allows.
   */
  void write(long address, long length, DataOutputView target) throws IOException {
    // For a few bytes, wrapping the memory costs more than a copy.
    if (length > CHUNK_BYTES && target instanceof MemorySegmentWritable writable) {
      int bytes = Math.toIntExact(length);
      writable.write(
          MemorySegmentFactory.wrapOffHeapMemory(HostMemory.byteBuffer(address, bytes)), 0, bytes);
      return;
    }
    for (long done = 0; done < length; done += CHUNK_BYTES) {
      int bytes = (int) Math.min(CHUNK_BYTES, length - done);
      HostMemory.copyToArray(chunk, 0, address + done, bytes);
      target.write(chunk, 0, bytes);
    }
  }

  /**
   * Reads {@code length} bytes into host memory.
   *
   * @throws IOException if {@code source} has fewer bytes
   */
  void read(long address, long length, DataInputView source) throws IOException {
    for (long done = 0; done < length; done += CHUNK_BYTES) {
      int bytes = (int) Math.min(CHUNK_BYTES, length - done);
      readFully(chunk, bytes, source);
      HostMemory.copyFromArray(address + done, chunk, 0, bytes);
    }
  }

  /**
   * Reads {@code length} bytes to the start of {@code target}.
   *
   * @throws IOException if {@code source} has fewer bytes
   */
  static void readFully(byte[] target, int length, DataInputView source) throws IOException {
    try {
      source.readFully(target, 0, length);
    } catch (EOFException e) {
      throw new IOException("the batch is cut short within its body", e);
    }
  }
}
