// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Decides which requests of a test fail: the requests at one site, in the first attempts of the
 * thread that reaches the site first. Records all sites. Thread-safe.
 */
final class AllocationFailures {
  private final AllocationSite site;
  private final int attempts;
  private final Set<AllocationSite> sites = new LinkedHashSet<>();
  private Thread thread;
  private AllocationRequest last;
  private AllocationRequest lastFailed;
  private int failedAttempts;
  private boolean over;

  private AllocationFailures(AllocationSite site, int attempts) {
    this.site = site;
    this.attempts = attempts;
  }

  /** No request fails. */
  static AllocationFailures none() {
    return new AllocationFailures(null, 0);
  }

  /** The first {@code attempts} attempts at {@code site} fail; later attempts succeed. */
  static AllocationFailures at(AllocationSite site, int attempts) {
    return new AllocationFailures(site, attempts);
  }

  /** The allocation sites so far, in the order of their first requests. */
  synchronized List<AllocationSite> sites() {
    return List.copyOf(sites);
  }

  /** How many attempts failed so far. */
  synchronized int failedAttempts() {
    return failedAttempts;
  }

  /** Lets all further requests succeed. */
  synchronized void end() {
    over = true;
  }

  /** Whether the current request of the calling thread fails. */
  synchronized boolean fails() {
    AllocationRequest request = AllocationRequest.current();
    if (request.isOfTestCode()) {
      return false;
    }
    sites.add(request.site());
    if (thread == null && request.site().equals(site)) {
      thread = Thread.currentThread();
    }
    if (over || thread != Thread.currentThread()) {
      return false;
    }
    boolean fails = isRepeated(request) || (isNextAttempt(request) && failsAttempt(request));
    last = request;
    return fails;
  }

  // An equal request directly after a failed one is the same attempt, repeated after a spill.
  private boolean isRepeated(AllocationRequest request) {
    return request.equals(lastFailed) && request.equals(last);
  }

  // An operator may start its next attempt at another line, but asks for memory at the same line.
  private boolean isNextAttempt(AllocationRequest request) {
    return lastFailed == null
        ? request.site().equals(site)
        : request.site().call().equals(site.call());
  }

  private boolean failsAttempt(AllocationRequest request) {
    boolean isNextInput = lastFailed != null && request.attempt().equals(lastFailed.attempt());
    if (isNextInput || failedAttempts == attempts) {
      over = true;
      return false;
    }
    failedAttempts++;
    lastFailed = request;
    return true;
  }
}
