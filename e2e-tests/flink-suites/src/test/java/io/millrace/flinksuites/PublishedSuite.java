// SPDX-License-Identifier: Apache-2.0
package io.millrace.flinksuites;

import java.util.Set;
import java.util.TreeSet;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The results of the tests of a class. */
final class PublishedSuite implements TestExecutionListener {
  private final Set<String> passed = new TreeSet<>();
  private final Set<String> failed = new TreeSet<>();

  private PublishedSuite() {}

  /** Runs the tests of a class. */
  static PublishedSuite run(String className) {
    PublishedSuite suite = new PublishedSuite();
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectClass(className))
            .build();
    LauncherFactory.create().execute(request, suite);
    return suite;
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    boolean succeeded = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
    if (test.isTest() || !succeeded) {
      String cause = result.getThrowable().map(failure -> ": " + failure).orElse("");
      Set<String> results = succeeded ? passed : failed;
      results.add(test.getUniqueId() + " " + test.getDisplayName() + cause);
    }
  }

  Set<String> passed() {
    return passed;
  }

  /** The tests that failed, with the cause. */
  Set<String> failed() {
    return failed;
  }
}
