// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import org.junit.jupiter.api.Test;

class PlacementTest {
  private static final String KAFKA = Product.KAFKA.title();
  private static final DockerEngine ENGINE =
      new DockerEngine("20.10", null, Set.of(Product.KAFKA.image()));
  private static final DockerEngine EMPTY_ENGINE = new DockerEngine("20.10", null, Set.of());
  private static final DockerEngine SILENT = DockerEngine.silent("there is no socket");

  @Test
  void containerIfTheEngineHasTheImage() {
    assertThat(Placement.choose(Product.KAFKA, "auto", ENGINE))
        .isEqualTo(new Placement(true, KAFKA + " in a container (docker 20.10)"))
        .isEqualTo(Placement.choose(Product.KAFKA, "container", ENGINE));
  }

  @Test
  void processIfNoEngineAnswers() {
    assertThat(Placement.choose(Product.KAFKA, "auto", SILENT))
        .isEqualTo(
            new Placement(
                false, KAFKA + " as a process: Docker does not answer: there is no socket"));
  }

  @Test
  void processIfTheEngineHasNoImage() {
    assertThat(Placement.choose(Product.KAFKA, "auto", EMPTY_ENGINE))
        .isEqualTo(
            new Placement(
                false,
                "%s as a process: docker 20.10 has no image %s, which e2e-tests/containers/setup.sh makes"
                    .formatted(KAFKA, Product.KAFKA.image())));
  }

  @Test
  void processIfTheUserSaysSo() {
    assertThat(Placement.choose(Product.KAFKA, "process", ENGINE))
        .isEqualTo(new Placement(false, KAFKA + " as a process: millrace.services is process"));
  }

  @Test
  void doesNotFallBackIfTheUserWantsContainers() {
    assertThatThrownBy(() -> Placement.choose(Product.KAFKA, "container", SILENT))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            KAFKA
                + " in a container, as millrace.services says:"
                + " Docker does not answer: there is no socket");
    assertThatThrownBy(() -> Placement.choose(Product.KAFKA, "container", EMPTY_ENGINE))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("docker 20.10 has no image");
  }

  @Test
  void refusesOtherWords() {
    assertThatThrownBy(() -> Placement.choose(Product.KAFKA, "docker", ENGINE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected millrace.services to be auto, container or process, got 'docker'");
  }
}
