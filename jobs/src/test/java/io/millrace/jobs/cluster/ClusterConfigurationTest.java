// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterConfigurationTest {
  @TempDir private Path path;

  @Test
  void processesReadWhatWasWritten() throws Exception {
    ClusterFolder folder = new ClusterFolder(path);
    folder.create();
    Map<String, String> options =
        Map.of(
            "millrace.device", "cuda",
            "millrace.device.index", "1",
            "env.java.opts.taskmanager", "-Da='b: c' -Dd=#e");
    Configuration written =
        ClusterConfiguration.write(
            folder,
            new ClusterSettings(
                0, 1, 2, MemorySize.parse("2g"), List.of(), Optional.empty(), options));

    Configuration read = GlobalConfiguration.loadConfiguration(folder.configuration().toString());
    assertThat(read.toMap()).containsAllEntriesOf(options).containsAllEntriesOf(written.toMap());
  }
}
