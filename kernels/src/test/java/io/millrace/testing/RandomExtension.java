// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import java.time.Duration;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * The source of a test's random numbers. Each test has a fixed seed by default. {@code
 * -Dmillrace.seed} sets a number as the seed, or with {@code random} a new seed for each test. A
 * failed test prints its seed.
 */
public final class RandomExtension implements BeforeEachCallback, TestWatcher {
  /** The system property that sets the seed. */
  public static final String SEED_PROPERTY = "millrace.seed";

  private static final String FUZZ_SECONDS_PROPERTY = "millrace.fuzz.seconds";

  /** All tests that fuzz take about a minute together by default. */
  private static final long FUZZ_SECONDS = 3;

  private long seed;
  private Random random;

  /**
   * A part of a test that draws its input from {@link #random()}.
   *
   * @param <E> what it throws
   */
  @FunctionalInterface
  public interface FuzzedPart<E extends Exception> {
    void run() throws E;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    String choice = System.getProperty(SEED_PROPERTY, "");
    seed =
        switch (choice) {
          case "" -> context.getUniqueId().hashCode();
          case "random" -> new SplittableRandom().nextLong();
          default -> Long.parseLong(choice);
        };
    random = new Random(seed);
  }

  public long seed() {
    return seed;
  }

  /** The test's generator, which starts at its seed: each call gives the same generator. */
  public Random random() {
    return random;
  }

  /**
   * Runs a part of a test with ever new random numbers, at least once, for {@code
   * -Dmillrace.fuzz.seconds} or {@value #FUZZ_SECONDS} seconds.
   */
  public <E extends Exception> void fuzz(FuzzedPart<E> part) throws E {
    long seconds = Long.getLong(FUZZ_SECONDS_PROPERTY, FUZZ_SECONDS);
    long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
    do {
      part.run();
    } while (System.nanoTime() < end);
  }

  @Override
  public void testFailed(ExtensionContext context, Throwable cause) {
    System.err.println(
        context.getDisplayName() + " failed; repeat with -D" + SEED_PROPERTY + "=" + seed);
  }
}
