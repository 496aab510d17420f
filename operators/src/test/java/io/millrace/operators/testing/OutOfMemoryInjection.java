// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.PinnedStagingPool;
import io.millrace.device.StagingRequests;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.operators.context.ContextMemory;
import io.millrace.testing.TestShare;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.platform.commons.support.AnnotationSupport;

/** Runs an {@link OutOfMemoryTest} without failures, and then with failures at each site. */
final class OutOfMemoryInjection implements TestTemplateInvocationContextProvider {
  @Override
  public boolean supportsTestTemplate(ExtensionContext context) {
    return AnnotationSupport.isAnnotated(context.getTestMethod(), OutOfMemoryTest.class);
  }

  // JUnit runs each invocation before it takes the next, so the first run has recorded the sites.
  @Override
  public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(
      ExtensionContext context) {
    OutOfMemoryTest test =
        AnnotationSupport.findAnnotation(context.getTestMethod(), OutOfMemoryTest.class)
            .orElseThrow();
    AllocationCoverage.began(context.getRequiredTestMethod());
    AllocationFailures none = AllocationFailures.none();
    return Stream.concat(
        Stream.of(new Invocation("as it is", none, new Recording(none, test))),
        Stream.of(none).flatMap(recorded -> failing(recorded.sites(), test)));
  }

  private static Stream<Invocation> failing(List<AllocationSite> sites, OutOfMemoryTest test) {
    return IntStream.range(0, sites.size())
        .boxed()
        .flatMap(number -> failing(sites.get(number), number, test));
  }

  // In a share of the runs, sites take turns in the number of attempts.
  private static Stream<Invocation> failing(AllocationSite site, int number, OutOfMemoryTest test) {
    return IntStream.rangeClosed(1, test.attempts())
        .filter(attempts -> TestShare.IS_ALL || attempts == 1 + number % test.attempts())
        .mapToObj(
            attempts -> {
              AllocationFailures failures = AllocationFailures.at(site, attempts);
              return new Invocation(
                  attempts + (attempts == 1 ? " attempt fails at " : " attempts fail at ") + site,
                  failures,
                  new Injection(failures, site, test));
            });
  }

  private record Invocation(String name, AllocationFailures failures, Extension extension)
      implements TestTemplateInvocationContext {
    @Override
    public String getDisplayName(int invocationIndex) {
      return name;
    }

    @Override
    public List<Extension> getAdditionalExtensions() {
      return List.of(new Memory(failures), extension);
    }
  }

  /** Injects the failures into the memory of operators. */
  private record Memory(AllocationFailures failures)
      implements BeforeEachCallback, AfterEachCallback {
    private static PinnedStagingPool stagingPool() {
      return Device.current().stagingPool();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
      ContextMemory.wrap(
          memory -> new FailingResourceAdaptor(memory, (number, bytes) -> failures.fails()));
      StagingRequests.listen(stagingPool(), this::request);
    }

    private void request(long bytes) {
      if (failures.fails()) {
        throw new GpuOutOfMemoryException(
            "injected failure of a request for " + bytes + " bytes of staging memory");
      }
    }

    // Unwrapping also fails if a buffer leaked and was spilled. A failed test may hold memory.
    @Override
    public void afterEach(ExtensionContext context) {
      failures.end();
      StagingRequests.ignore(stagingPool());
      if (context.getExecutionException().isEmpty()) {
        ContextMemory.unwrap();
      }
    }
  }

  private record Recording(AllocationFailures failures, OutOfMemoryTest test)
      implements AfterEachCallback {
    @Override
    public void afterEach(ExtensionContext context) {
      boolean isOnHost = Device.current().kind() == DeviceKind.HOST;
      if (context.getExecutionException().isEmpty() && !(test.onGpuOnly() && isOnHost)) {
        assertThat(failures.sites())
            .as("sites where an operator takes memory; make this a @Test if there are none")
            .isNotEmpty();
      }
    }
  }

  private record Injection(AllocationFailures failures, AllocationSite site, OutOfMemoryTest test)
      implements AfterEachCallback {
    @Override
    public void afterEach(ExtensionContext context) {
      if (failures.failedAttempts() > 0) {
        AllocationCoverage.failed(site.call());
      }
      if (context.getExecutionException().isEmpty() && !test.onCluster()) {
        assertThat(failures.failedAttempts()).as("failures at " + site).isPositive();
      }
    }
  }
}
