// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.DeferredDevice;
import io.millrace.device.Device;
import io.millrace.memory.resource.CudaAsyncMemoryResource;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random programs over shared, spilled and exposed buffers keep every buffer's content, address and
 * account. Runs a few programs, or as many as {@code -Dmillrace.fuzz.seconds} has time for; the
 * first program has the test's own seed.
 */
class BufferProgramTest {
  private static final int PROGRAMS = 15;
  private static final long FUZZ_SECONDS = Long.getLong("millrace.fuzz.seconds", 0);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();
  @TempDir Path directory;

  /** Runs the program of one seed. */
  private interface Run {
    void run(long seed) throws InterruptedException;
  }

  private void runAll(Run run) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(FUZZ_SECONDS);
    long seed = random.seed();
    for (int i = 0; i < PROGRAMS || System.nanoTime() < end; i++, seed++) {
      try {
        run.run(seed);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(
            "repeat with -D" + RandomExtension.SEED_PROPERTY + "=" + seed + ": " + e, e);
      }
    }
  }

  private BufferProgram program(long seed, AccessMode writeMode) {
    return new BufferProgram(seed, device.device(), device.fixedMemory(), directory, writeMode);
  }

  @Test
  void contentAddressesAndAccountsHoldOnOneThread() throws InterruptedException {
    runAll(seed -> program(seed, AccessMode.WRITE).run());
  }

  @Test
  void contentAddressesAndAccountsHoldOnFourThreads() throws InterruptedException {
    runAll(seed -> program(seed, AccessMode.WRITE).run(4));
  }

  @Test
  void movesAndCopiesAreOrderedWithWorkThatRunsLate() throws InterruptedException {
    runAll(
        seed -> {
          Device late = new DeferredDevice();
          new BufferProgram(
                  seed, late, new CudaAsyncMemoryResource(late), directory, AccessMode.WRITE)
              .run();
        });
  }

  @Test
  void aWriteThatIsCalledAReadIsNoticed() {
    assertThatThrownBy(() -> runAll(seed -> program(seed, AccessMode.READ).run()))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("first byte that differs");
  }
}
