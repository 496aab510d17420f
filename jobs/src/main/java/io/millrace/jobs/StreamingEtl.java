package io.millrace.jobs;

import io.millrace.device.Device;
import io.millrace.device.DeviceUnavailableException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import picocli.CommandLine;

/**
 * Streams rows from a source into column batches, filters and projects them on the device,
 * hash-partitions the rows by key over the subtasks, and writes them.
 *
 * <p>Runs on an embedded cluster by default, and as an ordinary job jar through {@code flink run}.
 */
public final class StreamingEtl {
  private static final String JOB_NAME = "StreamingEtl";
  private static final int WEB_PORT = 8081;
  private static final int FAILED = 1;
  private static final int WRONG_USAGE = 2;

  private StreamingEtl() {}

  /**
   * On the embedded cluster, ends the process with 0, 1 (the job failed) or 2 (the command or its
   * input is wrong). On any other cluster it submits the job and throws if that cannot be done: the
   * process may be the JobManager, which runs the main class of a jar that comes over REST, and
   * must not end. An attached client shows the progress.
   *
   * @throws UsageException if the command or its input is wrong, on another cluster
   */
  public static void main(String[] arguments) throws Exception {
    boolean embedded =
        StreamExecutionEnvironment.getExecutionEnvironment() instanceof LocalStreamEnvironment;
    if (embedded) {
      int exitCode = run(arguments, System.out, System.err);
      if (exitCode != 0) {
        System.exit(exitCode);
      }
    } else {
      submit(arguments);
    }
  }

  private static void submit(String[] arguments) throws Exception {
    EtlCommand command = new EtlCommand();
    Optional<EtlPlan> plan = plan(command, arguments, System.out);
    if (plan.isPresent()) {
      Configuration settings = plan.get().configuration();
      StreamExecutionEnvironment environment =
          StreamExecutionEnvironment.getExecutionEnvironment(configuration(settings));
      environment.setParallelism(settings.get(EtlOptions.PARALLELISM));
      EtlPipeline.build(environment, plan.get());
      JobClient client = environment.executeAsync(JOB_NAME);
      // A client that is not attached, such as a JobManager that was sent the jar, cannot wait.
      if (environment.getConfiguration().get(DeploymentOptions.ATTACHED)) {
        EtlProgress progress = new EtlProgress(System.out);
        progress.printTable(progress.await(client), plan.get());
      }
    }
  }

  static int run(String[] arguments, PrintStream out, PrintStream err) {
    EtlCommand command = new EtlCommand();
    try {
      Optional<EtlPlan> plan = plan(command, arguments, out);
      return plan.isPresent() ? execute(plan.get(), command.web, out, err) : 0;
    } catch (UsageException | DeviceUnavailableException e) {
      err.println("millrace etl: " + e.getMessage());
      return WRONG_USAGE;
    }
  }

  /** What {@code arguments} ask for; nothing if that was help, which is then printed. */
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
    } catch (CommandLine.ParameterException e) {
      throw new UsageException(e.getMessage());
    }
    return Optional.of(EtlPlan.of(EtlOptions.parse(command.settings())));
  }

  private static int execute(EtlPlan plan, boolean web, PrintStream out, PrintStream err) {
    String device = plan.configuration().get(EtlOptions.DEVICE);
    out.println("device: " + device(device).description());
    StreamExecutionEnvironment environment = embedded(plan.configuration(), web);
    EtlPipeline.build(environment, plan);
    EtlProgress progress = new EtlProgress(out);
    try {
      JobClient client = environment.executeAsync(JOB_NAME);
      if (web) {
        out.println("web UI: http://localhost:" + WEB_PORT);
      }
      JobExecutionResult result = progress.await(client);
      progress.printTable(result, plan);
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      err.println("millrace etl: interrupted");
      return FAILED;
    } catch (ExecutionException e) {
      err.println("millrace etl: the job failed: " + message(e));
      return FAILED;
    } catch (Exception e) {
      err.println("millrace etl: the job could not be started: " + message(e));
      return FAILED;
    }
  }

  private static Device device(String option) {
    try {
      return Device.select(option, 0);
    } catch (IllegalArgumentException e) {
      throw new UsageException(e.getMessage());
    }
  }

  private static Configuration configuration(Configuration settings) {
    Configuration configuration = new Configuration();
    configuration.set(EtlOptions.DEVICE, settings.get(EtlOptions.DEVICE));
    configuration.set(
        CheckpointingOptions.CHECKPOINTING_INTERVAL, settings.get(EtlOptions.CHECKPOINT_INTERVAL));
    return configuration;
  }

  private static StreamExecutionEnvironment embedded(Configuration settings, boolean web) {
    Configuration configuration = configuration(settings);
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
    // Accumulators, and so the progress shown, travel with heartbeats.
    configuration.set(HeartbeatManagerOptions.HEARTBEAT_INTERVAL, Duration.ofSeconds(1));
    if (web) {
      configuration.set(RestOptions.PORT, WEB_PORT);
    }
    StreamExecutionEnvironment environment =
        web
            ? StreamExecutionEnvironment.createLocalEnvironmentWithWebUI(configuration)
            : StreamExecutionEnvironment.createLocalEnvironment(configuration);
    environment.setParallelism(settings.get(EtlOptions.PARALLELISM));
    return environment;
  }

  // What Flink wraps around a failure says only that there was one.
  private static String message(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null && isWrapper(cause)) {
      cause = cause.getCause();
    }
    return cause.getMessage() == null ? cause.toString() : cause.getMessage();
  }

  private static boolean isWrapper(Throwable failure) {
    String name = failure.getClass().getName();
    return name.startsWith("org.apache.flink.") || name.startsWith("java.util.concurrent.");
  }
}
