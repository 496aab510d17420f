// SPDX-License-Identifier: Apache-2.0
package io.millrace.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The files in {@code jobs/deploy} parse, and name the versions and files of the build. */
class DeploymentFilesTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path FOLDER = ROOT.resolve("jobs/deploy");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "compose.yaml",
        "compose.gpu.yaml",
        "prometheus.yml",
        "flink-deployment.yaml",
        "grafana/provisioning/datasources/prometheus.yaml",
        "grafana/provisioning/dashboards/millrace.yaml",
        "grafana/dashboards/millrace.json"
      })
  void parses(String file) throws Exception {
    assertThat(load(file)).isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "flink.version,      Dockerfile,            flink:([0-9.]+)-java17",
    "kafka.version,      compose.yaml,          apache/kafka:([0-9.]+)",
    "version,            Dockerfile,            millrace-jobs-(\\S+)\\.jar",
    "version,            compose.yaml,          image: millrace:(.+)",
    "version,            flink-deployment.yaml, image: millrace:(.+)"
  })
  void namesTheVersionOfTheBuild(String property, String file, String pattern) throws Exception {
    Matcher named = Pattern.compile(pattern).matcher(Files.readString(FOLDER.resolve(file)));
    assertThat(named.find()).isTrue();
    String pom = Files.readString(ROOT.resolve("pom.xml"));
    Matcher built = Pattern.compile("<" + property + ">([^<]+)<").matcher(pom);
    assertThat(built.find()).isTrue();
    assertThat(named.group(1)).isEqualTo(built.group(1));
  }

  @Test
  void containersMountFilesThatExist() throws Exception {
    Matcher mounted =
        Pattern.compile("- \\./(\\S+):/").matcher(Files.readString(FOLDER.resolve("compose.yaml")));
    assertThat(mounted.results().map(found -> FOLDER.resolve(found.group(1))).toList())
        .hasSize(3)
        .allMatch(Files::exists);
  }

  @Test
  void portsAreOnTheLoopbackInterface() throws Exception {
    Map<?, ?> services = (Map<?, ?>) load("compose.yaml").get("services");
    assertThat(services).hasSizeGreaterThan(5);
    for (Object service : services.values()) {
      Object ports = ((Map<?, ?>) service).get("ports");
      if (ports != null) {
        assertThat((List<?>) ports).allMatch(port -> port.toString().startsWith("127.0.0.1:"));
      }
    }
  }

  private static Map<?, ?> load(String file) throws Exception {
    Object loaded =
        new Load(LoadSettings.builder().build())
            .loadFromString(Files.readString(FOLDER.resolve(file)));
    return (Map<?, ?>) loaded;
  }
}
