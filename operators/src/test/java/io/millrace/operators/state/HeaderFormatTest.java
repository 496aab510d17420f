// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeaderFormatTest {
  private static final int MAGIC = 0x4d4c5249;
  private static final int MAX_BYTES = 1 << 30;

  @Test
  void aDamagedSizeDoesNotTakeTheMemoryThatItSays() {
    HeaderFormat format = new HeaderFormat(MAGIC, List.of(1), MAX_BYTES);
    byte[] damaged = ByteBuffer.allocate(100).putInt(MAGIC).putInt(1).putInt(MAX_BYTES).array();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThatThrownBy(() -> format.read(new ByteArrayInputStream(damaged)))
        .isInstanceOf(IOException.class)
        .hasMessage("keyed state is damaged: it ends within its header");
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(64 << 20);
  }
}
