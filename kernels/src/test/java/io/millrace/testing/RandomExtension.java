// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

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

  private long seed;
  private Random random;

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

  @Override
  public void testFailed(ExtensionContext context, Throwable cause) {
    System.err.println(
        context.getDisplayName() + " failed; repeat with -D" + SEED_PROPERTY + "=" + seed);
  }
}
