// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The JobManager itself runs the main class of a jar that is submitted over REST: a job that ended
 * the process over a wrong option would take all jobs of the cluster with it.
 */
@Tag("cluster")
class WrongUsageSubmittedToClusterTest {
  @RegisterExtension final ProcessClusterExtension processes = new ProcessClusterExtension();

  @Test
  void isRefusedAndTheJobManagerKeepsRunning() throws Exception {
    ProcessCluster cluster = processes.cluster();
    JobSubmission wrong =
        new JobSubmission(
            Path.of(System.getProperty("millrace.cluster.etl.jar")),
            "io.millrace.jobs.StreamingEtl",
            List.of("--select=auction, prise", "--output=" + processes.folder().resolve("output")),
            1,
            Optional.empty(),
            Map.of());

    assertThatThrownBy(() -> cluster.rest().run(wrong)).hasMessageContaining("prise");

    assertThat(cluster.rest().runningJobs()).isEmpty();
  }
}
