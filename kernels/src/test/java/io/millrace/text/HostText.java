// SPDX-License-Identifier: Apache-2.0
package io.millrace.text;

import io.millrace.device.HostMemory;
import java.nio.charset.StandardCharsets;

/** A string as UTF-8 in host memory. */
public final class HostText implements AutoCloseable {
  private final long address;
  private final int length;

  public HostText(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    this.length = bytes.length;
    this.address = HostMemory.allocate(Math.max(1, length));
    HostMemory.copyFromArray(address, bytes, 0, length);
  }

  public long address() {
    return address;
  }

  public int length() {
    return length;
  }

  /** The characters of some of the bytes. */
  public String text(int start, int end) {
    byte[] bytes = new byte[end - start];
    HostMemory.copyToArray(bytes, 0, address + start, bytes.length);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    HostMemory.free(address);
  }
}
