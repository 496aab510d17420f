// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.device.HostMemory;
import io.millrace.memory.spill.SpillFile.Region;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The processes of {@link SpillFileProcessTest}, which end with what they print. */
final class SpillFileProcess {
  private static final int BYTES = 1 << 20;

  private SpillFileProcess() {}

  public static void main(String[] arguments) throws IOException {
    SpillFile file = SpillFile.in(List.of(Path.of(arguments[1])), Long.MAX_VALUE);
    long address = HostMemory.allocate(BYTES);
    switch (arguments[0]) {
      case "hold" -> hold(file, address);
      case "fill" -> fill(file, address);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }

  private static void hold(SpillFile file, long address) throws IOException {
    HostMemory.fill(address, BYTES, (byte) 1);
    file.write(address, BYTES);
    System.out.println("spilled");
    System.in.read();
  }

  private static void fill(SpillFile file, long address) {
    List<Region> regions = new ArrayList<>();
    try {
      while (true) {
        HostMemory.fill(address, BYTES, (byte) regions.size());
        regions.add(file.write(address, BYTES));
      }
    } catch (SpillException full) {
      System.out.println(full.getMessage());
    }
    check(HostMemory.getByte(address + BYTES - 1) == regions.size(), "the memory is the caller's");
    check(file.heldBytes() == (long) regions.size() * BYTES, "no room is held for what failed");
    check(file.fileBytes() == (long) regions.size() * BYTES, "the disk has its space back");
    file.free(regions.remove(0));
    regions.add(file.write(address, BYTES));
    for (int i = 0; i < regions.size(); i++) {
      file.read(regions.get(i), address);
      check(HostMemory.getByte(address) == i + 1, "region " + i + " has its bytes");
    }
    file.close();
    System.out.println("kept " + regions.size());
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError("does not hold: " + what);
    }
  }
}
