// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Shares a JobManager between all test classes, because starting it takes longer than most tests. A
 * test says how many TaskManagers it wants; its jobs are cancelled when it ends.
 */
final class ProcessClusterExtension implements BeforeEachCallback, AfterEachCallback {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(ProcessClusterExtension.class);

  private ProcessCluster cluster;
  private Path folder;

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    cluster =
        context
            .getRoot()
            .getStore(NAMESPACE)
            .getOrComputeIfAbsent(ProcessCluster.class, key -> start(), ProcessCluster.class);
    folder =
        Files.createTempDirectory(
            cluster.folder(), context.getRequiredTestMethod().getName() + "-");
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    if (cluster != null) {
      cluster.cancelJobs();
    }
  }

  private static ProcessCluster start() {
    try {
      return ProcessCluster.start(newFolder());
    } catch (Exception e) {
      throw new IllegalStateException("the cluster did not start", e);
    }
  }

  private static Path newFolder() throws IOException {
    Path parent = Files.createDirectories(Path.of(System.getProperty("millrace.cluster.logs")));
    return Files.createTempDirectory(parent, "cluster-");
  }

  ProcessCluster cluster() {
    return cluster;
  }

  /** An empty folder for the running test. */
  Path folder() {
    return folder;
  }
}
