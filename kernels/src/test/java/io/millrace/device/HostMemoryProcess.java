// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

/** The process of {@link HostMemoryProcessTest}: an interrupted thread is the first to use it. */
final class HostMemoryProcess {
  private HostMemoryProcess() {}

  public static void main(String[] arguments) {
    Thread.currentThread().interrupt();
    long address = HostMemory.allocate(Long.BYTES);
    HostMemory.putLong(address, 7);
    System.out.println(HostMemory.getLong(address) + " " + Thread.currentThread().isInterrupted());
    HostMemory.free(address);
  }
}
