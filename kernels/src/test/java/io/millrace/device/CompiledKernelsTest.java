// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Assembles the PTX that is checked in, without a GPU or a CUDA toolkit, for the oldest GPU that is
 * supported and for the H200.
 */
class CompiledKernelsTest {
  static List<Path> modules() throws IOException, URISyntaxException {
    URL folder = CudaKernelModule.class.getResource("/io/millrace/cuda");
    try (Stream<Path> files = Files.walk(Path.of(folder.toURI()))) {
      return files.filter(file -> file.toString().endsWith(".ptx")).sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("modules")
  void assembles(Path module) throws IOException {
    String ptx = Files.readString(module, StandardCharsets.US_ASCII);

    assertThat(PtxAssembler.errors(ptx)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("modules")
  void namesNoFolderOfTheMachineThatCompiledIt(Path module) throws IOException {
    String ptx = Files.readString(module, StandardCharsets.US_ASCII);

    assertThat(ptx).doesNotContain(System.getProperty("user.dir"), "/tmp/", "/home/");
    assertThat(ptx)
        .doesNotContainPattern(
            "(_INTERNAL_|_GLOBAL__N__|__nv_static_\\d+__)(?!00000000)[0-9a-f]{8}_");
  }
}
