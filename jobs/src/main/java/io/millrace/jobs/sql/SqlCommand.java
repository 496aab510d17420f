// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.sql;

import io.millrace.jobs.cluster.ClusterException;
import io.millrace.jobs.cluster.LocalCluster;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.sql.table.SqlOptions;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.flink.annotation.Internal;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.client.SqlClientException;
import org.apache.flink.table.client.config.ResultMode;
import org.apache.flink.table.client.config.SqlClientOptions;
import org.apache.flink.util.NetUtils;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line {@code millrace sql}. */
@Internal
@Command(
    name = "millrace sql",
    mixinStandardHelpOptions = true,
    usageHelpAutoWidth = true,
    version = "Millrace 0.1.0",
    description =
        "Flink's SQL client with Millrace's operators, on the cluster of 'millrace cluster', which is"
            + " started if it does not run.",
    footer = {
      "",
      "Exit codes: 0 done; 1 a statement failed; 2 the command is wrong, nothing was done; 3 with"
          + " --explain, some nodes would stay Flink's.",
      "Example: millrace sql; millrace sql -f job.sql; millrace sql --explain job.sql"
    })
public final class SqlCommand implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int FLINK_NODES = 3;
  private static final String REMOTE = "remote";
  private static final String HISTORY = "sql-history";

  @Spec private CommandSpec spec;

  private final PrintStream out;

  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE",
      description = "Runs the statements of a script and ends.")
  private Path script;

  @Option(
      names = "--explain",
      paramLabel = "FILE",
      description = {
        "Tells of each query of a script which nodes of its plan would run on Millrace's operators,"
            + " why others not, and what would change that.",
        "Runs no query and needs no cluster. Options and definitions are run."
      })
  private Path explained;

  @Option(
      names = {"-i", "--init"},
      paramLabel = "FILE",
      description = "Runs definitions and SET statements first.")
  private Path init;

  @Option(
      names = {"-j", "--jar"},
      paramLabel = "JAR",
      description = "A jar with functions or connectors; may be given several times.")
  private List<Path> jars = List.of();

  @Option(
      names = "-D",
      paramLabel = "KEY=VALUE",
      description = "An option of the session, such as -D parallelism.default=2.")
  private Map<String, String> options = new LinkedHashMap<>();

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      description = "Folder of the cluster's files (default ~/.local/state/millrace/cluster).")
  private Path folder = LocalCluster.defaultFolder();

  @Option(
      names = "--jobmanager",
      paramLabel = "HOST:PORT",
      description =
          "REST address of another Flink cluster, which has Millrace's jar in its lib folder.")
  private String jobManager;

  private SqlCommand(PrintStream out) {
    this.out = out;
  }

  /** Ends the process with the exit codes that the command's help lists. */
  public static void main(String[] arguments) {
    System.exit(execute(arguments, System.out, System.err));
  }

  static int execute(String[] arguments, PrintStream out, PrintStream err) {
    CommandLine commandLine = new CommandLine(new SqlCommand(out));
    commandLine.setExecutionExceptionHandler(
        (failure, command, parsed) -> {
          if (!(failure instanceof ClusterException
              || failure instanceof IOException
              || failure instanceof SqlClientException)) {
            throw failure;
          }
          err.println("millrace sql: " + failure.getMessage());
          return FAILED;
        });
    commandLine.setParameterExceptionHandler(
        (failure, given) -> {
          err.println("millrace sql: " + failure.getMessage() + "; --help lists the options");
          return CommandLine.ExitCode.USAGE;
        });
    return commandLine.execute(arguments);
  }

  @Override
  public Integer call() throws IOException, ClusterException, InterruptedException {
    checkFile("--file", script);
    checkFile("--explain", explained);
    checkFile("--init", init);
    for (Path jar : jars) {
      checkFile("--jar", jar);
    }
    if (explained != null && script != null) {
      throw new ParameterException(spec.commandLine(), "expected one of --file and --explain");
    }
    return explained == null ? runClient() : explain();
  }

  private void checkFile(String option, Path file) {
    if (file != null && !Files.isReadable(file)) {
      throw new ParameterException(
          spec.commandLine(), "cannot read the file '" + file + "' of " + option);
    }
  }

  private int runClient() throws IOException, ClusterException, InterruptedException {
    Configuration configuration =
        jobManager == null ? LocalCluster.connect(folder, out) : ofAnotherCluster();
    configuration.set(DeploymentOptions.TARGET, REMOTE);
    configuration.set(SqlOptions.MODE, SqlMode.ON);
    configuration.set(SqlClientOptions.EXECUTION_RESULT_MODE, ResultMode.TABLEAU);
    options.forEach(configuration::setString);
    boolean succeeded =
        new SqlShell(configuration, jars, folder.resolve(HISTORY))
            .run(Optional.ofNullable(init), Optional.ofNullable(script));
    return succeeded ? 0 : FAILED;
  }

  private Configuration ofAnotherCluster() {
    try {
      URL address = NetUtils.getCorrectHostnamePort(jobManager);
      Configuration configuration = new Configuration();
      configuration.set(RestOptions.ADDRESS, address.getHost());
      configuration.set(RestOptions.PORT, address.getPort());
      return configuration;
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), "expected HOST:PORT for --jobmanager, got '" + jobManager + "'");
    }
  }

  private int explain() throws IOException {
    TableEnvironment session =
        TableEnvironment.create(
            EnvironmentSettings.newInstance()
                .inStreamingMode()
                .withConfiguration(Configuration.fromMap(options))
                .build());
    for (Path jar : jars) {
      session.executeSql("ADD JAR '" + jar.toAbsolutePath() + "'");
    }
    List<ScriptExplanation.Result> results = new ArrayList<>();
    for (Path file : init == null ? List.of(explained) : List.of(init, explained)) {
      results.addAll(
          ScriptExplanation.of(Files.readString(file), (TableEnvironmentInternal) session));
    }
    ExplanationReport report = new ExplanationReport(out, results);
    report.print();
    return report.hasFailure() ? FAILED : report.isWhollyMillrace() ? 0 : FLINK_NODES;
  }
}
