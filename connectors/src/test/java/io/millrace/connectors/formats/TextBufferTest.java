// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextBufferTest {
  @Test
  void theMemoryOfAnUnusuallyLongTextIsFreed() {
    TextBuffer buffer = new TextBuffer();
    buffer.append(new byte[1 << 20]);
    int usual = buffer.capacity();
    buffer.clear();
    assertThat(buffer.capacity()).isEqualTo(usual);
    buffer.append(new byte[40 << 20]);
    buffer.clear();
    assertThat(buffer.capacity()).isLessThan(usual);
    buffer.append("text");
    assertThat(buffer.toByteArray()).asString().isEqualTo("text");
  }
}
