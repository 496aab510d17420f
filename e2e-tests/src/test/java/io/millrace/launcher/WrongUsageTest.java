// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Wrong usage ends in one line and exit code 2, before anything is written. */
@Tag("cluster")
class WrongUsageTest {
  @TempDir private Path folder;

  static Stream<Arguments> wrongUsage() {
    return Stream.of(
        Arguments.of("an unknown option", List.of("--evnets=5"), "--evnets"),
        Arguments.of("an option's value", List.of("--parallelism=many"), "many"),
        Arguments.of("a number out of range", List.of("--batch-rows=0"), "batch.rows"),
        Arguments.of("an unknown column", List.of("--select=auction, prise"), "prise"),
        Arguments.of("an unknown key", List.of("--key=auktion"), "auktion"),
        Arguments.of(
            "a type mismatch", List.of("--select=auction, price + channel AS c"), "channel"),
        Arguments.of(
            "a missing file",
            List.of("--source=files", "--input=nowhere.json", "--schema=id BIGINT"),
            "nowhere.json"),
        Arguments.of("a device that does not exist", List.of("--device=tpu"), "tpu"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("wrongUsage")
  void isSaidInOneLine(String what, List<String> arguments, String named) throws Exception {
    assertRefused(arguments, named);
  }

  @Test
  void aMissingGpuIsSaidInOneLine() throws Exception {
    assumeFalse(Device.select("auto", 0).kind() == DeviceKind.CUDA, "there is a GPU here");
    assertRefused(List.of("--device=cuda"), "no GPU");
  }

  private void assertRefused(List<String> arguments, String named) throws Exception {
    Path output = folder.resolve("output");
    List<String> all = Stream.concat(arguments.stream(), Stream.of("--output=" + output)).toList();

    MillraceProcess etl = MillraceProcess.etl(folder, all.toArray(String[]::new));

    assertThat(etl.exitCode()).as(etl.error()).isEqualTo(2);
    assertThat(etl.error().lines()).as(etl.error()).singleElement().asString().contains(named);
    assertThat(etl.output()).isEmpty();
    assertThat(output).doesNotExist();
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .allMatch(name -> name.startsWith("stdout-") || name.startsWith("stderr-"));
    }
  }
}
