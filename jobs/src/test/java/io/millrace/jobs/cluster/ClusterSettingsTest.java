// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.Test;

class ClusterSettingsTest {
  private static List<List<String>> dealt(int taskManagers, String... gpus) {
    ClusterSettings settings =
        new ClusterSettings(
            0,
            taskManagers,
            2,
            MemorySize.ofMebiBytes(1),
            List.of(gpus),
            Optional.empty(),
            Map.of());
    return IntStream.rangeClosed(1, taskManagers).mapToObj(settings::gpus).toList();
  }

  @Test
  void gpusAreDealtToTaskManagers() {
    assertThat(dealt(2)).containsOnly(List.of());
    assertThat(dealt(1, "0")).containsExactly(List.of("0"));
    assertThat(dealt(2, "0", "1")).containsExactly(List.of("0"), List.of("1"));
    assertThat(dealt(1, "0", "1", "2")).containsExactly(List.of("0", "1", "2"));
    assertThat(dealt(2, "0", "1", "2")).containsExactly(List.of("0", "2"), List.of("1"));
    assertThat(dealt(5, "3", "GPU-a"))
        .containsExactly(
            List.of("3"), List.of("GPU-a"), List.of("3"), List.of("GPU-a"), List.of("3"));
  }
}
