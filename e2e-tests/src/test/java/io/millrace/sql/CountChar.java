// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import java.nio.charset.StandardCharsets;
import org.apache.flink.table.functions.ScalarFunction;

/** Nexmark's function of q14: how often a text has the first byte of another text. */
public class CountChar extends ScalarFunction {
  private static final long serialVersionUID = 1L;

  public Long eval(String text, String character) {
    if (text == null || character == null) {
      return null;
    }
    byte[] searched = character.getBytes(StandardCharsets.UTF_8);
    long count = 0;
    for (byte value : text.getBytes(StandardCharsets.UTF_8)) {
      if (searched.length > 0 && value == searched[0]) {
        count++;
      }
    }
    return count;
  }
}
