// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.GpuFatalError;
import io.millrace.device.GpuOutOfMemoryException;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Tests that the first of several failures is thrown, with the others suppressed. */
class FirstFailureTest {
  private final FirstFailure failure = new FirstFailure();
  private final RuntimeException first = new GpuOutOfMemoryException("first");
  private final RuntimeException second = new IllegalStateException("second");
  private final Error error = new GpuFatalError("error");

  @Test
  void theFirstExceptionIsThrown() {
    failure.add(first);
    failure.add(second);
    failure.add(first);
    assertThatThrownBy(failure::rethrow).isSameAs(first).hasSuppressedException(second);
  }

  @Test
  void anErrorIsThrownBeforeExceptions() {
    failure.add(first);
    failure.add(error);
    failure.add(second);
    assertThatThrownBy(failure::rethrow)
        .isSameAs(error)
        .hasSuppressedException(first)
        .hasSuppressedException(second);
  }

  @Test
  void aCheckedExceptionIsRefusedAndNotLost() {
    assertThatIllegalArgumentException().isThrownBy(() -> failure.add(new IOException("disk")));
    assertThatCode(failure::rethrow).doesNotThrowAnyException();
  }
}
