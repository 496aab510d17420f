// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Arrays;

/** The hash of a value as the Java object that Flink's external rows have for it. */
final class JavaHashes {
  private JavaHashes() {}

  static int of(Object value) {
    if (value == null) {
      return 0;
    } else if (value instanceof ByteBuffer bytes) {
      byte[] content = new byte[bytes.remaining()];
      bytes.duplicate().get(content);
      return Arrays.hashCode(content);
    } else if (value instanceof LocalDateTime time) {
      return ofFlinksCut(time).hashCode();
    }
    return value.hashCode();
  }

  // Flink counts the days of a TIMESTAMP in 32 bits.
  private static LocalDateTime ofFlinksCut(LocalDateTime time) {
    int day = (int) time.toLocalDate().toEpochDay();
    return LocalDate.ofEpochDay(day).atTime(time.toLocalTime());
  }
}
