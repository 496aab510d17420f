// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.junit.jupiter.api.Test;

class EtlProgressTest {
  /**
   * A job that fails, and whose cluster is gone, as soon as it is asked how far it is. Flink's
   * embedded cluster may go at any moment, which no test of a real one meets reliably.
   */
  private static final class EndingJob implements JobClient {
    private final CompletableFuture<JobExecutionResult> result = new CompletableFuture<>();

    private IllegalStateException end() {
      result.completeExceptionally(new IllegalArgumentException("the job's own failure"));
      return new IllegalStateException("MiniCluster is not yet running or has been shut down");
    }

    @Override
    public CompletableFuture<Map<String, Object>> getAccumulators() {
      throw end();
    }

    @Override
    public CompletableFuture<JobExecutionResult> getJobExecutionResult() {
      return result;
    }

    @Override
    public JobID getJobID() {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<JobStatus> getJobStatus() {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Void> cancel() {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<String> stopWithSavepoint(
        boolean advanceToEndOfEventTime, String directory, SavepointFormatType format) {
      throw end();
    }

    @Override
    public CompletableFuture<String> triggerSavepoint(
        String directory, SavepointFormatType format) {
      throw new UnsupportedOperationException();
    }
  }

  private final EtlProgress progress =
      new EtlProgress(new PrintStream(OutputStream.nullOutputStream()));

  @Test
  void aJobThatEndsWhileItIsAskedHowFarItIsFailsWithItsOwnFailure() {
    assertThatThrownBy(() -> progress.await(new EndingJob(), new CompletableFuture<>()))
        .isInstanceOf(ExecutionException.class)
        .hasRootCauseMessage("the job's own failure");
  }
}
