// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.millrace.device.Device;
import io.millrace.memory.Buffer;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.memory.retry.GpuSemaphore;
import io.millrace.operators.context.DeviceContext;
import io.millrace.testing.TestShare;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Injection finds operators that do not survive a failure, and lines that never failed. */
class OutOfMemoryInjectionTest {
  private static final int RUNS_OF_A_SITE = TestShare.IS_ALL ? 2 : 1;

  /** Takes rows out of a list, for which it needs memory. Only the enclosing tests run it. */
  @ExtendWith(NothingHeldExtension.class)
  abstract static class Taking {
    private final List<Integer> input = new ArrayList<>(List.of(1, 2, 3));

    @OutOfMemoryTest
    void allRowsComeOut() {
      try (DeviceContext context = DeviceContext.open(Device.current())) {
        GpuRetry retry =
            new GpuRetry(context.resource().quota(), new GpuSemaphore(1, System::nanoTime));
        assertThat(retry.withRetry(() -> take(input, context))).containsExactly(1, 2, 3);
      }
    }

    abstract List<Integer> take(List<Integer> rows, DeviceContext context);

    static Buffer allocate(DeviceContext context) {
      return Buffer.allocate(64, context.stream(), context.resource());
    }
  }

  static class Faithful extends Taking {
    @Override
    List<Integer> take(List<Integer> rows, DeviceContext context) {
      try (Buffer first = allocate(context);
          Buffer second = allocate(context)) {
        assertThat(first.size()).isEqualTo(second.size());
        return rows;
      }
    }
  }

  static class LosesARow extends Taking {
    @Override
    List<Integer> take(List<Integer> rows, DeviceContext context) {
      int last = rows.remove(rows.size() - 1);
      try (Buffer buffer = allocate(context)) {
        assertThat(buffer.size()).isPositive();
        rows.add(last);
        return rows;
      }
    }
  }

  static class Leaks extends Taking {
    static final List<Buffer> LEAKED = new ArrayList<>();

    @Override
    List<Integer> take(List<Integer> rows, DeviceContext context) {
      Buffer first = allocate(context);
      LEAKED.add(first);
      allocate(context).close();
      first.close();
      return rows;
    }

    static void free() {
      LEAKED.forEach(Buffer::close);
      DeviceContext.open(Device.current()).close();
    }
  }

  static class TakesNoMemory extends Taking {
    @Override
    List<Integer> take(List<Integer> rows, DeviceContext context) {
      return rows;
    }
  }

  private static TestExecutionSummary run(Class<?> test) {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request().selectors(selectClass(test)).build(),
            listener);
    return listener.getSummary();
  }

  private static String failures(TestExecutionSummary summary) {
    return summary.getFailures().stream()
        .map(failure -> failure.getTestIdentifier() + ": " + failure.getException())
        .collect(joining("\n"));
  }

  @Test
  void eachSiteFailsInOneAttemptAndInTwoOrInOneOfThem() {
    TestExecutionSummary summary = run(Faithful.class);
    assertThat(failures(summary)).isEmpty();
    assertThat(summary.getTestsSucceededCount()).isEqualTo(1 + 2 * RUNS_OF_A_SITE);
  }

  @Test
  void aLostRowIsFound() {
    TestExecutionSummary summary = run(LosesARow.class);
    assertThat(summary.getTestsSucceededCount()).isEqualTo(1);
    assertThat(summary.getTestsFailedCount()).isEqualTo(RUNS_OF_A_SITE);
    assertThat(failures(summary)).contains("1 attempt fails at ", "to contain exactly");
  }

  @Test
  void aLeakIsFound() {
    TestExecutionSummary summary = run(Leaks.class);
    Leaks.free();
    assertThat(summary.getTestsSucceededCount()).isEqualTo(1 + RUNS_OF_A_SITE);
    assertThat(failures(summary))
        .contains(TestShare.IS_ALL ? "1 attempt fails at " : "2 attempts fail at ", "is in use");
  }

  @Test
  void aTestThatTakesNoMemoryIsRefused() {
    TestExecutionSummary summary = run(TakesNoMemory.class);
    assertThat(summary.getTestsSucceededCount()).isZero();
    assertThat(failures(summary)).contains("make this a @Test");
  }

  /** An operation that never runs. */
  static final class Unseen {
    Buffer allocate(DeviceContext context) {
      return Buffer.allocate(64, context.stream(), context.resource());
    }
  }

  @Test
  void aLineThatNeverFailedIsAGap() {
    AllocationCoverage unseen = AllocationCoverage.of(Unseen.class);
    assertThat(unseen.gaps(Map.of()))
        .singleElement()
        .asString()
        .contains("OutOfMemoryInjectionTest$Unseen:", "Buffer.allocate");
    assertThat(unseen.gaps(Map.of(Unseen.class.getName(), "it never runs"))).isEmpty();
  }

  @Test
  void aLineThatFailedIsNotAGapAndNotExempt() {
    run(Faithful.class);
    AllocationCoverage seen = AllocationCoverage.of(Taking.class);
    assertThat(seen.gaps(Map.of())).isEmpty();
    assertThat(seen.gaps(Map.of(Taking.class.getName(), "for nothing")))
        .singleElement()
        .asString()
        .contains("remove its exemption");
  }
}
