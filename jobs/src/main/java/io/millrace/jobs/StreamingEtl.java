// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.device.Device;
import io.millrace.device.DeviceUnavailableException;
import io.millrace.jobs.operator.TooManyBadRowsException;
import java.io.PrintStream;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.ExceptionUtils;
import picocli.CommandLine;

/**
 * Streams rows from a source into column batches, filters and projects them on the device,
 * hash-partitions the rows by key over the subtasks, and writes them.
 *
 * <p>Runs on an embedded cluster by default, and as an ordinary job jar through {@code flink run}.
 */
@Internal
public final class StreamingEtl {
  private static final String JOB_NAME = "StreamingEtl";
  private static final int FAILED = 1;
  private static final int WRONG_USAGE = 2;
  private static final int TOO_MANY_BAD_ROWS = 3;

  private StreamingEtl() {}

  /**
   * On the embedded cluster, ends the process with the exit codes that {@link EtlCommand} lists. On
   * any other cluster it submits the job and throws if that cannot be done: the process may be the
   * JobManager, which runs the main class of a jar that comes over REST, and must not end. An
   * attached client shows the progress.
   *
   * @throws UsageException if the command or its input is wrong, on another cluster
   */
  public static void main(String[] arguments) throws Exception {
    boolean embedded =
        StreamExecutionEnvironment.getExecutionEnvironment() instanceof LocalStreamEnvironment;
    if (embedded) {
      int exitCode = run(arguments, System.out, System.err, StopSignals.take());
      if (exitCode != 0) {
        System.exit(exitCode);
      }
    } else {
      submit(arguments);
    }
  }

  private static void submit(String[] arguments) throws Exception {
    EtlCommand command = new EtlCommand();
    Optional<EtlPlan> parsed = plan(command, arguments, System.out);
    if (parsed.isEmpty()) {
      return;
    }
    if (command.hasWebUi() || command.resume != null) {
      throw new UsageException(
          "--web and --web-port have no effect on a cluster, and it is flink run -s PATH that goes"
              + " on from a savepoint there");
    }
    EtlPlan plan = parsed.get();
    StreamExecutionEnvironment environment = EtlEnvironment.ofCluster(plan.configuration());
    OutputFolders.check(plan, EtlEnvironment.mayBeResumed(environment));
    EtlPipeline.build(environment, plan);
    JobClient client = environment.executeAsync(JOB_NAME);
    // A client that is not attached, such as a JobManager that was sent the jar, cannot wait.
    if (environment.getConfiguration().get(DeploymentOptions.ATTACHED)) {
      EtlProgress progress = new EtlProgress(System.out);
      JobExecutionResult result = progress.await(client, new CompletableFuture<>()).orElseThrow();
      progress.printTable(result, plan);
      EtlProgress.checkBadRows(result, plan);
    }
  }

  static int run(String[] arguments, PrintStream out, PrintStream err) {
    return run(arguments, out, err, new CompletableFuture<>());
  }

  /**
   * Runs the job here, and returns the exit code.
   *
   * @param stop completed with an exit code to stop the job with a savepoint
   */
  static int run(
      String[] arguments, PrintStream out, PrintStream err, CompletableFuture<Integer> stop) {
    EtlCommand command = new EtlCommand();
    try {
      Optional<EtlPlan> plan = plan(command, arguments, out);
      return plan.isPresent() ? execute(plan.get(), command, out, err, stop) : 0;
    } catch (UsageException | DeviceUnavailableException e) {
      err.println("millrace etl: " + e.getMessage());
      return WRONG_USAGE;
    }
  }

  /** The plan of {@code arguments}; empty if they ask for help, which is printed. */
  private static Optional<EtlPlan> plan(EtlCommand command, String[] arguments, PrintStream out) {
    CommandLine commandLine = new CommandLine(command);
    try {
      CommandLine.ParseResult parsed = commandLine.parseArgs(arguments);
      if (parsed.isUsageHelpRequested()) {
        commandLine.usage(out);
        return Optional.empty();
      }
      if (parsed.isVersionHelpRequested()) {
        commandLine.printVersionHelp(out);
        return Optional.empty();
      }
    } catch (CommandLine.UnmatchedArgumentException e) {
      List<String> suggestions = e.getSuggestions();
      throw new UsageException(
          e.getMessage()
              + (suggestions.isEmpty() ? "" : "; did you mean " + suggestions.get(0) + "?")
              + "; --help lists the options");
    } catch (CommandLine.ParameterException e) {
      throw new UsageException(e.getMessage() + "; --help lists the options");
    }
    return Optional.of(
        EtlPlan.of(EtlOptions.parse(command.fileSettings(), command.givenSettings())));
  }

  private static int execute(
      EtlPlan plan,
      EtlCommand command,
      PrintStream out,
      PrintStream err,
      CompletableFuture<Integer> stop) {
    Device device = device(plan.configuration().get(EtlOptions.DEVICE));
    Optional<Integer> webPort =
        command.hasWebUi()
            ? Optional.of(EtlEnvironment.freeWebPort(Optional.ofNullable(command.webPort)))
            : Optional.empty();
    Optional<String> resumePath =
        Optional.ofNullable(command.resume).map(EtlEnvironment::savepoint);
    StreamExecutionEnvironment environment =
        EtlEnvironment.embedded(plan.configuration(), webPort, resumePath);
    OutputFolders.prepare(plan, resumePath.isPresent());
    EtlPipeline.build(environment, plan);
    out.println("device: " + device.description());
    JobClient client;
    try {
      client = environment.executeAsync(JOB_NAME);
    } catch (Exception e) {
      err.println("millrace etl: the job could not be started: " + FailureMessage.of(e));
      return FAILED;
    }
    webPort.ifPresent(port -> out.println("web UI: http://localhost:" + port));
    return await(client, plan, out, err, stop);
  }

  private static int await(
      JobClient client,
      EtlPlan plan,
      PrintStream out,
      PrintStream err,
      CompletableFuture<Integer> stop) {
    EtlProgress progress = new EtlProgress(out);
    try {
      Optional<JobExecutionResult> result = progress.await(client, stop);
      if (result.isEmpty()) {
        String savepoint = progress.stopWithSavepoint(client, plan);
        out.println("stopped; to go on, repeat the command with --resume " + savepoint);
        return stop.join();
      }
      progress.printTable(result.get(), plan);
      EtlProgress.checkBadRows(result.get(), plan);
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      err.println("millrace etl: interrupted");
      return FAILED;
    } catch (ExecutionException | TooManyBadRowsException e) {
      String what = stop.isDone() ? "there is no savepoint: " : "the job failed: ";
      err.println("millrace etl: " + what + FailureMessage.of(e));
      return ExceptionUtils.findThrowable(e, TooManyBadRowsException.class).isPresent()
          ? TOO_MANY_BAD_ROWS
          : FAILED;
    }
  }

  private static Device device(String option) {
    try {
      return Device.select(option, 0);
    } catch (IllegalArgumentException e) {
      throw new UsageException(e.getMessage());
    }
  }
}
