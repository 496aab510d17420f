// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** C structs that lie, in a process of their own, which they must not end. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CStructProcessTest {
  @TempDir Path directory;

  @Test
  void noMemberOfAStructEndsTheProcess() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx256m",
                    "-Dmillrace.device=host",
                    "-XX:ErrorFile=" + directory.resolve("error.log"),
                    "-XX:-CreateCoredumpOnCrash",
                    "--add-opens=java.base/java.nio=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    CStructProcess.class.getName()))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .start();
    try {
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      int start = Math.max(0, output.length() - 4_000);
      assertThat(process.waitFor()).as(output.substring(start)).isZero();
      assertThat(output).containsPattern("done, \\d+ refused on ");
      assertThat(output.lines().filter(line -> line.contains(" = "))).hasSizeGreaterThan(1_000);
    } finally {
      process.destroyForcibly();
    }
  }
}
