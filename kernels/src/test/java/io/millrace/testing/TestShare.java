// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

/**
 * How much of a test runs whose cases are drawn at random or multiply: a share of it in each build,
 * all of it with {@code -Dmillrace.tests=all}, which the profile {@code nightly} sets.
 */
public final class TestShare {
  /** Whether all of each test runs. */
  public static final boolean IS_ALL = "all".equals(System.getProperty("millrace.tests"));

  private static final int SHARE = 3;

  private TestShare() {}

  /** How many cases to draw where all of the test draws {@code all} of them: a third, or more. */
  public static int of(int all) {
    return IS_ALL ? all : (all + SHARE - 1) / SHARE;
  }
}
