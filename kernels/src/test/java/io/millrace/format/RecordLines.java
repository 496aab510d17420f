// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.DeviceExtension;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** Lines of text, and other records, in the memory of a test's device. */
public final class RecordLines {
  private RecordLines() {}

  /** A copy of bytes. The caller closes it. */
  public static Buffer buffer(byte[] bytes, DeviceExtension device) {
    long address = HostMemory.allocate(Math.max(1, bytes.length));
    try {
      HostMemory.copyFromArray(address, bytes, 0, bytes.length);
      Buffer buffer = Buffer.copyOf(address, bytes.length, device.stream(), device.memory());
      device.stream().synchronize();
      return buffer;
    } finally {
      HostMemory.free(address);
    }
  }

  /** Copies bytes to a buffer of the host. */
  public static void copy(byte[] bytes, Buffer target, DeviceStream hostStream) {
    try (AccessScope scope = AccessScope.on(hostStream)) {
      HostMemory.copyFromArray(target.access(AccessMode.WRITE, scope), bytes, 0, bytes.length);
    }
  }

  /** Records of any bytes. The caller closes them. */
  public static RecordBytes records(List<byte[]> records, DeviceExtension device) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ByteBuffer positions =
        ByteBuffer.allocate((records.size() + 1) * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (byte[] record : records) {
      positions.putInt(bytes.size());
      bytes.writeBytes(record);
    }
    positions.putInt(bytes.size());
    return new RecordBytes(
        buffer(bytes.toByteArray(), device), buffer(positions.array(), device), records.size());
  }

  /** The lines of bytes. The caller closes them. */
  public static RecordBytes of(byte[] bytes, DeviceExtension device) {
    try (Buffer buffer = buffer(bytes, device)) {
      return RecordBytes.lines(buffer, device.stream(), device.memory());
    }
  }
}
