// SPDX-License-Identifier: Apache-2.0
package io.millrace.etl;

import io.millrace.jobs.StreamingEtl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The ETL job on its embedded cluster, in a thread of this process, which it ends if it fails. */
final class EtlRun {
  private EtlRun() {}

  /**
   * Starts the job.
   *
   * @param configuration as YAML
   */
  static void start(Path folder, String configuration) throws IOException {
    Path file = folder.resolve("etl.yaml");
    Files.writeString(file, configuration);
    Thread job = new Thread(() -> run(file), "etl");
    job.setDaemon(true);
    job.start();
  }

  private static void run(Path file) {
    try {
      StreamingEtl.main(new String[] {"--config", file.toString()});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (Exception e) {
      throw new IllegalStateException("the job failed", e);
    }
  }
}
