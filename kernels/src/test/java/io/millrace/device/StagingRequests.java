// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import java.util.function.LongConsumer;

/** Lets tests of other packages see, and fail, requests to a staging pool. */
public final class StagingRequests {
  private StagingRequests() {}

  /**
   * Calls {@code listener} with the size of each request until {@link #ignore}, in the thread that
   * makes the request. The request fails if the listener throws.
   */
  public static void listen(PinnedStagingPool pool, LongConsumer listener) {
    pool.listen(listener);
  }

  /** Ends what {@link #listen} began. */
  public static void ignore(PinnedStagingPool pool) {
    pool.listen(bytes -> {});
  }
}
