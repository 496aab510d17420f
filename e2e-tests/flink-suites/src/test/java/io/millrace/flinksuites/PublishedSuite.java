// SPDX-License-Identifier: Apache-2.0
package io.millrace.flinksuites;

import io.millrace.expression.error.EvaluationException;
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
  private final Set<String> failedOtherwise = new TreeSet<>();

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
      Set<String> results =
          succeeded ? passed : expectsAnotherException(cause) ? failedOtherwise : failed;
      results.add(test.getUniqueId() + " " + test.getDisplayName() + cause);
    }
  }

  // The job fails as it should, but with Millrace's exception for a row, not with Flink's.
  private static boolean expectsAnotherException(String cause) {
    return cause.contains("[Any cause is instance of class")
        && cause.contains(EvaluationException.class.getName());
  }

  Set<String> passed() {
    return passed;
  }

  /** The tests that failed, with the cause. */
  Set<String> failed() {
    return failed;
  }

  /** The tests whose query failed, as it should, but with another exception than Flink's. */
  Set<String> failedOtherwise() {
    return failedOtherwise;
  }
}
