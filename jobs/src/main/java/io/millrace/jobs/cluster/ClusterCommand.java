// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.JobID;
import org.apache.flink.client.cli.CliFrontend;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command line {@code millrace cluster}. */
@Internal
@Command(
    name = "millrace cluster",
    mixinStandardHelpOptions = true,
    usageHelpAutoWidth = true,
    synopsisSubcommandLabel = "COMMAND",
    version = "Millrace 0.1.0",
    description =
        "A Flink cluster of processes on this machine, for jobs of this project and others.",
    footer = {
      "",
      "Exit codes: 0 done; 1 it failed; 2 the command is wrong, nothing was done.",
      "Example: millrace cluster up --taskmanagers 2; millrace cluster run etl --config etl.yaml"
    })
public final class ClusterCommand {
  private static final int FAILED = 1;

  @Spec private CommandSpec spec;

  private final PrintStream out;

  @Option(
      names = "--folder",
      scope = CommandLine.ScopeType.INHERIT,
      paramLabel = "DIR",
      description = "Folder of the cluster's files (default ~/.local/state/millrace/cluster).")
  private Path path = ClusterFolder.defaultPath();

  private ClusterCommand(PrintStream out) {
    this.out = out;
  }

  /** Ends the process with the exit codes that the command's help lists. */
  public static void main(String[] arguments) {
    System.exit(execute(arguments, System.out, System.err));
  }

  static int execute(String[] arguments, PrintStream out, PrintStream err) {
    CommandLine commandLine = new CommandLine(new ClusterCommand(out));
    // What stands behind the job is the job's.
    commandLine.getSubcommands().get("run").setStopAtPositional(true);
    commandLine.setExecutionExceptionHandler(
        (failure, command, parsed) -> {
          if (!(failure instanceof ClusterException) && !(failure instanceof IOException)) {
            throw failure;
          }
          err.println("millrace cluster: " + failure.getMessage());
          return FAILED;
        });
    commandLine.setParameterExceptionHandler(
        (failure, given) -> {
          err.println("millrace cluster: " + failure.getMessage() + "; --help lists the options");
          return CommandLine.ExitCode.USAGE;
        });
    return commandLine.execute(arguments);
  }

  private ClusterFolder folder() {
    return new ClusterFolder(path.toAbsolutePath().normalize());
  }

  @Command(description = "Starts a JobManager and TaskManagers, which run until 'down'.")
  int up(
      @Option(
              names = "--taskmanagers",
              paramLabel = "N",
              description = "TaskManagers (default: one for each GPU, at least one).")
          Integer taskManagers,
      @Option(
              names = "--slots",
              paramLabel = "N",
              defaultValue = "" + ClusterSettings.DEFAULT_SLOTS,
              description = "Slots of each TaskManager (default 2).")
          int slots,
      @Option(
              names = "--memory",
              paramLabel = "SIZE",
              defaultValue = ClusterSettings.DEFAULT_MEMORY,
              description = "Memory of each TaskManager process (default 2g).")
          String memory,
      @Option(
              names = "--port",
              paramLabel = "PORT",
              defaultValue = "" + ClusterSettings.DEFAULT_PORT,
              description = "Port of the web UI (default 8081); 0 for any.")
          int port,
      @Option(
              names = "--metrics-port",
              paramLabel = "PORT",
              description =
                  "Port of the JobManager's metrics for Prometheus; the TaskManagers take the next"
                      + " ones (default: no metrics).")
          Integer metricsPort,
      @Option(
              names = "-D",
              paramLabel = "KEY=VALUE",
              description = "An option of Flink, such as -D millrace.device=cuda.")
          Map<String, String> flinkOptions)
      throws IOException, ClusterException, InterruptedException {
    List<String> gpus = Gpus.visible();
    int number = taskManagers == null ? Math.max(1, gpus.size()) : taskManagers;
    checkPositive("--taskmanagers", number);
    checkPositive("--slots", slots);
    new LocalCluster(folder(), out)
        .start(
            new ClusterSettings(
                port,
                number,
                slots,
                size(memory),
                gpus,
                Optional.ofNullable(metricsPort),
                flinkOptions == null ? Map.of() : new LinkedHashMap<>(flinkOptions)));
    return 0;
  }

  private void checkPositive(String option, int number) {
    if (number < 1) {
      throw new ParameterException(
          spec.commandLine(), "expected at least 1 for " + option + ", got " + number);
    }
  }

  private MemorySize size(String text) {
    try {
      return MemorySize.parse(text);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), "expected a size such as 2g for --memory, got '" + text + "'");
    }
  }

  @Command(
      description = {
        "Submits a job and waits for its end: 'etl' with the options of 'millrace etl', or a jar with"
            + " its arguments.",
        "Options of 'flink run' stand before the job: run --detached etl --config etl.yaml"
      })
  int run(
      @Option(
              names = {"-d", "--detached"},
              description = "Do not wait for the job's end.")
          boolean detached,
      @Option(
              names = {"-p", "--parallelism"},
              paramLabel = "N",
              description = "Subtasks of each operator (default: all slots).")
          Integer parallelism,
      @Option(
              names = {"-s", "--from"},
              paramLabel = "PATH",
              description = "Savepoint or checkpoint to resume.")
          String savepoint,
      @Option(
              names = "--class",
              paramLabel = "CLASS",
              description = "Main class (default: that of the jar).")
          String mainClass,
      @Parameters(index = "0", paramLabel = "JOB", description = "etl, or the path of a jar.")
          String job,
      @Parameters(
              index = "1..*",
              paramLabel = "ARGUMENT",
              description = "Arguments of the job, after --.")
          List<String> jobArguments)
      throws ClusterException, InterruptedException, IOException {
    Configuration configuration = folder().readConfiguration();
    List<String> arguments = new ArrayList<>(List.of("run"));
    if (detached) {
      arguments.add("--detached");
    }
    arguments.addAll(
        List.of("--parallelism", String.valueOf(subtasks(parallelism, configuration))));
    if (savepoint != null) {
      arguments.addAll(List.of("--fromSavepoint", savepoint));
    }
    if (mainClass != null) {
      arguments.addAll(List.of("--class", mainClass));
    }
    arguments.add(jar(job).toString());
    arguments.addAll(jobArguments == null ? List.of() : jobArguments);
    configuration.set(RestOptions.RETRY_MAX_ATTEMPTS, 1);
    CliFrontend client =
        new CliFrontend(
            configuration,
            CliFrontend.loadCustomCommandLines(configuration, folder().configuration().toString()));
    return client.parseAndRun(arguments.toArray(String[]::new));
  }

  private int subtasks(Integer parallelism, Configuration configuration)
      throws ClusterException, InterruptedException {
    if (parallelism != null) {
      checkPositive("--parallelism", parallelism);
      return parallelism;
    }
    try (ClusterRest rest = new ClusterRest(configuration)) {
      int slots = rest.taskManagers().stream().mapToInt(info -> info.getNumberSlots()).sum();
      return Math.max(1, slots);
    }
  }

  private Path jar(String job) {
    if (job.equals("etl")) {
      return LocalCluster.jobsJar();
    }
    Path jar = Path.of(job);
    if (!Files.isRegularFile(jar)) {
      throw new ParameterException(
          spec.commandLine(), "expected etl or the path of a jar, got '" + job + "'");
    }
    return jar;
  }

  @Command(description = "Prints the processes and the jobs, or one job with its plan.")
  int status(
      @Parameters(arity = "0..1", paramLabel = "JOB", description = "The id of a job.") String job)
      throws IOException, ClusterException, InterruptedException {
    try (ClusterRest rest = new ClusterRest(folder().readConfiguration())) {
      ClusterStatus status = new ClusterStatus(folder(), rest, out);
      if (job == null) {
        status.printCluster();
      } else {
        status.printJob(id(job));
      }
    }
    return 0;
  }

  private JobID id(String text) {
    try {
      return JobID.fromHexString(text);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(),
          "expected the id of a job, 32 hexadecimal digits, got '" + text + "'");
    }
  }

  @Command(description = "Stops the cluster; its checkpoints, savepoints and logs stay.")
  int down() throws IOException, InterruptedException {
    if (new LocalCluster(folder(), out).stop() == 0) {
      out.println("no cluster runs in " + folder().path());
    }
    return 0;
  }
}
