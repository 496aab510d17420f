// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.process.Await;
import io.millrace.process.LoggedProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code millrace etl --demo}, without the launcher's build. */
@Tag("cluster")
class EtlDemoTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir Path folder;

  @Test
  void windowsArriveInAllSinks() throws Exception {
    List<String> arguments = new ArrayList<>();
    System.getProperties()
        .forEach(
            (name, value) -> {
              if (name.toString().startsWith("millrace.")) {
                arguments.add("-D" + name + "=" + value);
              }
            });
    arguments.addAll(
        List.of(
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            "io.millrace.etl.EtlDemo",
            "--rate=500",
            "--windows=300"));
    try (LoggedProcess demo =
        LoggedProcess.startJava("the demo", folder.resolve("demo.log"), arguments)) {
      Await.until("the demo ends", LIMIT, () -> !demo.isAlive(), demo::diagnosis);
      assertThat(demo.exitCode()).as(demo.diagnosis()).isZero();
      assertThat(demo.output())
          .containsPattern(
              "bids sent [0-9,]+; windows in Kafka [0-9,]+, in PostgreSQL [0-9,]+; Parquet files"
                  + " [1-9]")
          .contains("the newest window  auction    bids  highest     total");
    }
  }
}
