// SPDX-License-Identifier: Apache-2.0
package io.millrace.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each jar of the build carries the repository's LICENSE and NOTICE, the shaded jars too. */
@Tag("cluster") // Runs after the package phase.
class JarLicenceTest {
  private static final Path ROOT = Path.of("..");
  private static final List<String> MODULES =
      List.of("kernels", "operators", "operators/planner", "connectors", "bundle", "jobs");

  @ParameterizedTest
  @ValueSource(strings = {"LICENSE", "NOTICE"})
  void eachJarCarries(String name) throws IOException {
    byte[] expected = Files.readAllBytes(ROOT.resolve(name));
    for (Path path : jars()) {
      try (JarFile jar = new JarFile(path.toFile())) {
        ZipEntry entry = jar.getEntry("META-INF/" + name);
        assertThat(entry).as("META-INF/%s in %s", name, path).isNotNull();
        try (InputStream content = jar.getInputStream(entry)) {
          assertThat(content).as("META-INF/%s in %s", name, path).hasBinaryContent(expected);
        }
      }
    }
  }

  /** The jars of the modules and of their tests; shading leaves its input as original-*.jar. */
  private static List<Path> jars() throws IOException {
    List<Path> jars = new ArrayList<>();
    for (String module : MODULES) {
      try (Stream<Path> files = Files.list(ROOT.resolve(module).resolve("target"))) {
        List<Path> found =
            files
                .filter(file -> file.getFileName().toString().matches("millrace-.*\\.jar"))
                .toList();
        assertThat(found).as("jars of %s", module).isNotEmpty();
        jars.addAll(found);
      }
    }
    return jars;
  }
}
