// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.HostDevice;
import io.millrace.memory.resource.HostMemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Tests that buffers without a close are reported once they are garbage-collected. */
class LeakDetectorTest {
  private static final int ATTEMPTS = 100;
  private static final long PAUSE_NANOS = 20_000_000;

  private final List<Throwable> reports = new CopyOnWriteArrayList<>();

  private static Buffer makeBuffer() {
    return Buffer.wrap(
        0, 0, HostDevice.INSTANCE.createStream(), HostMemoryResource.INSTANCE, () -> {});
  }

  private static void forget(LeakDetector detector, int buffers) {
    for (int i = 0; i < buffers; i++) {
      detector.track(makeBuffer());
    }
  }

  private static void collectUntil(LeakDetector detector, long leaks) {
    for (int i = 0; i < ATTEMPTS && detector.leaks() < leaks; i++) {
      System.gc();
      LockSupport.parkNanos(PAUSE_NANOS);
      detector.reportCollected();
    }
  }

  @Test
  void aBufferThatIsNotClosedIsReportedWithThePlaceThatMadeIt() {
    LeakDetector detector = new LeakDetector(LeakDetector.Level.ALL, reports::add);
    forget(detector, 1);
    collectUntil(detector, 1);
    assertThat(reports)
        .singleElement()
        .satisfies(
            site ->
                assertThat(site.getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals("forget")));
  }

  @Test
  void aBufferThatIsClosedIsNotReported() {
    LeakDetector detector = new LeakDetector(LeakDetector.Level.ALL, reports::add);
    detector.track(makeBuffer()).close();
    forget(detector, 1);
    collectUntil(detector, 1);
    assertThat(reports).hasSize(1);
  }

  @Test
  void oneInSomeBuffersIsFollowed() {
    LeakDetector detector = new LeakDetector(LeakDetector.Level.SAMPLED, reports::add);
    forget(detector, 10 * LeakDetector.SAMPLE_INTERVAL);
    collectUntil(detector, 10);
    assertThat(reports).hasSize(10);
  }

  @Test
  void nothingIsFollowedWhenItIsOff() {
    LeakDetector detector = new LeakDetector(LeakDetector.Level.OFF, reports::add);
    assertThat(detector.track(makeBuffer())).isNull();
  }

  @Test
  void aLevelThatThereIsNotIsAnErrorThatNamesTheOption() {
    List<String> errors = new ArrayList<>();
    assertThat(LeakDetector.Level.parse("paranoid", errors::add))
        .isEqualTo(LeakDetector.Level.SAMPLED);
    assertThat(errors)
        .containsExactly(
            "expected off, sampled or all for millrace.leak-detection, got 'paranoid':"
                + " using sampled");
    assertThat(LeakDetector.Level.parse("Off", errors::add)).isEqualTo(LeakDetector.Level.OFF);
    assertThat(errors).hasSize(1);
  }

  @Test
  void theBuffersOfTheProcessAreFollowed() {
    long before = LeakDetector.PROCESS.leaks();
    for (int i = 0; i < 2 * LeakDetector.SAMPLE_INTERVAL; i++) {
      makeBuffer();
    }
    collectUntil(LeakDetector.PROCESS, before + 1);
    assertThat(LeakDetector.PROCESS.leaks()).isGreaterThan(before);
  }
}
