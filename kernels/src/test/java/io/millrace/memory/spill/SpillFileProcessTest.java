// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of SIGKILL and of a full disk, which need a process of their own. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SpillFileProcessTest {
  private static final String LIMITED_FILES = "ulimit -f 5000 && exec \"$@\"";
  private static final String SMALL_DISK =
      "mount -t tmpfs -o size=5000k none \"$0\" && exec \"$@\"";

  @TempDir Path directory;

  private Process process;

  private void start(List<String> shell, String work) throws IOException {
    List<String> command = new ArrayList<>(shell);
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:-UsePerfData",
            "-Xmx64m",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            SpillFileProcess.class.getName(),
            work,
            directory.toString()));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("LC_ALL", "C");
    process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  @AfterEach
  void kill() {
    if (process != null) {
      process.destroyForcibly();
    }
  }

  @Test
  void aKilledProcessLeavesNoFile() throws IOException, InterruptedException {
    start(List.of(), "hold");
    try (BufferedReader output = process.inputReader(UTF_8)) {
      assertThat(output.readLine()).isEqualTo("spilled");
      process.destroyForcibly();
      assertThat(process.waitFor()).isEqualTo(128 + 9);
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aFileThatMayNotGrowLosesNothing() throws IOException, InterruptedException {
    start(List.of("bash", "-c", LIMITED_FILES, directory.toString()), "fill");
    assertFullAndNothingLost("File too large");
  }

  @Test
  void aFullDiskLosesNothing() throws IOException, InterruptedException {
    assumeTrue(mayMount(), "a user that may mount a small disk");
    start(
        List.of(
            "unshare", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK, directory.toString()),
        "fill");
    assertFullAndNothingLost("No space left on device");
  }

  private boolean mayMount() throws IOException, InterruptedException {
    try {
      Process mount =
          new ProcessBuilder(
                  "unshare",
                  "--map-root-user",
                  "--mount",
                  "sh",
                  "-c",
                  SMALL_DISK,
                  directory.toString(),
                  "true")
              .start();
      return mount.waitFor() == 0;
    } catch (IOException thereIsNoUnshare) {
      return false;
    }
  }

  private void assertFullAndNothingLost(String reason) throws IOException, InterruptedException {
    try (BufferedReader output = process.inputReader(UTF_8)) {
      assertThat(output.readLine())
          .startsWith("cannot spill 1048576 bytes to disk (")
          .contains(" bytes are usable; free disk space, or add a directory to io.tmp.dirs) in ")
          .endsWith(directory + ": " + reason);
      assertThat(output.readLine()).isEqualTo("kept 4");
    }
    assertThat(process.waitFor(240, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
  }
}
