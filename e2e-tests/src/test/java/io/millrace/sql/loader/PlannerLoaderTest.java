// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.process.Await;
import io.millrace.process.LoggedProcess;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * As in a Flink distribution, the planner is behind a class loader: nodes are replaced, and tables
 * of batches and functions for devices, which the application's class loader has, are known on the
 * planner's side.
 */
class PlannerLoaderTest {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final String FOLDER = "millrace.planner.loader";
  private static final List<String> OF_THE_PLANNER =
      List.of("flink-table-planner_", "scala-", "calcite", "flink-sql-parser");

  @TempDir private Path folder;

  private static String classPath() throws Exception {
    Stream<String> visible =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> OF_THE_PLANNER.stream().noneMatch(entry::contains));
    try (Stream<Path> loader = Files.list(Path.of(System.getProperty(FOLDER)))) {
      return Stream.concat(visible, loader.map(Path::toString))
          .collect(Collectors.joining(File.pathSeparator));
    }
  }

  @Test
  @EnabledIfSystemProperty(
      named = FOLDER,
      matches = ".+",
      disabledReason = "the build puts the jar there")
  void nodesAreReplacedBehindThePlannersClassLoader() throws Exception {
    List<String> arguments =
        new ArrayList<>(List.of(System.getProperty("millrace.cluster.jvm.flags").split(" ")));
    arguments.addAll(
        List.of(
            "-cp",
            classPath(),
            PlannerLoaderProgram.class.getName(),
            folder.resolve("kept").toUri().toString()));
    try (LoggedProcess program =
        LoggedProcess.startJava("the program", folder.resolve("program.log"), arguments)) {
      Await.until("the program ends", LIMIT, () -> !program.isAlive(), program::diagnosis);
      assertThat(program.exitCode()).as(program.diagnosis()).isZero();
      assertThat(program.output())
          .contains("MillraceSink(table=[default_catalog.default_database.kept]")
          .contains("MillraceCalc(select=[auction, price], where=[(MOD(auction, 123) = 0)], in=")
          .contains("MillraceTableSourceScan(")
          .contains("count_char(extra, 'c') AS c_counts")
          .contains("host=[[COUNT_CHAR: plain Java of the user]]")
          .doesNotContain("COUNT_CHAR_ON_DEVICE")
          .doesNotContain("millrace=[no")
          .containsPattern("q2 rows: [1-9]")
          .containsPattern("q14 rows: [1-9]")
          .containsPattern("q14OnDevice rows: [1-9]");
    }
  }
}
