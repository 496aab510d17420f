// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.connectors.nexmark.Bid;
import io.millrace.connectors.nexmark.NexmarkConfiguration;
import io.millrace.connectors.nexmark.NexmarkGenerator;
import io.millrace.process.CommittedFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A JobManager, a TaskManager and Flink's SQL client as processes that have Flink's artifacts, its
 * planner behind a class loader among them, and the bundle: scripts give the rows of Flink's
 * operators, and run on Millrace's.
 */
@Tag("cluster")
class SqlShellTest {
  private static final int BIDS = 5_000;
  private static final DateTimeFormatter MILLIS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS").withZone(ZoneOffset.UTC);
  private static final String QUERIES =
      """
      INSERT INTO dear_%1$s SELECT auction, price * 2, UPPER(channel) FROM bids WHERE price > 100;
      INSERT INTO windows_%1$s SELECT auction, COUNT(*), MAX(price), window_start
        FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(date_time), INTERVAL '1' SECOND))
        WHERE price > 100 GROUP BY auction, window_start, window_end;
      """;

  @TempDir private static Path folder;

  private static MillraceCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    cluster = new MillraceCluster(folder);
    cluster.run("up", "--port=0", "--memory=1300m");
    writeBids();
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.run("down");
  }

  private static void writeBids() throws Exception {
    NexmarkGenerator generator = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);
    List<String> lines =
        LongStream.range(0, BIDS)
            .mapToObj(number -> line(generator.bid(NexmarkGenerator.eventOfBid(number))))
            .toList();
    Files.write(Files.createDirectories(folder.resolve("bids")).resolve("bids.csv"), lines);
  }

  private static String line(Bid bid) {
    return "%d,%d,%s,%s"
        .formatted(
            bid.auction(),
            bid.price(),
            bid.channel(),
            MILLIS.format(Instant.ofEpochMilli(bid.dateTime())));
  }

  private static String table(String name, String columns) {
    return "CREATE TABLE %s (%s) WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = 'csv');\n"
        .formatted(name, columns, folder.resolve(name).toUri());
  }

  private static String tables(String suffix) {
    return table("dear_" + suffix, "auction BIGINT, price BIGINT, channel STRING")
        + table(
            "windows_" + suffix,
            "auction BIGINT, bids BIGINT, m BIGINT, window_start TIMESTAMP(3)");
  }

  private static String bids() {
    return table(
        "bids",
        "auction BIGINT, price BIGINT, channel STRING, date_time TIMESTAMP(3),"
            + " WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND");
  }

  private static MillraceProcess sql(String script, String... arguments) throws Exception {
    Path file = Files.writeString(Files.createTempFile(folder, "script", ".sql"), script);
    List<String> all = new ArrayList<>(List.of("--folder=" + cluster.files()));
    all.addAll(Arrays.asList(arguments));
    all.add(file.toString());
    return MillraceProcess.sql(folder, all.toArray(String[]::new));
  }

  @Test
  void scriptsGiveTheRowsOfFlinksOperators() throws Exception {
    String set = "EXECUTE STATEMENT SET BEGIN\n" + QUERIES + "END;\n";
    MillraceProcess client =
        sql(
            bids()
                + tables("millrace")
                + tables("flink")
                + "SHOW TABLES;\n"
                + "SET 'table.dml-sync' = 'true';\n"
                + "EXPLAIN STATEMENT SET BEGIN\n"
                + QUERIES.formatted("millrace")
                + "END;\n"
                + set.formatted("millrace")
                + "SELECT COUNT(*) AS n FROM bids WHERE price > 0;\n"
                + "SET 'millrace.sql' = 'off';\n"
                + set.formatted("flink"),
            "--file");
    assertThat(client.exitCode()).as(client.output() + client.error()).isZero();
    assertThat(client.output())
        .contains("MillraceGlobalWindowAggregate(", "MillraceExchange(", "MillraceCalc(")
        .containsPattern("\\| +table name \\|[^|]+\\| +bids \\|")
        .containsPattern("\\| \\+[IU] \\| +" + BIDS + " \\|");
    assertThat(operatorsOf("dear_millrace"))
        .contains("MillraceExchange[", "MillraceGlobalWindowAggregate[");
    for (String name : List.of("dear", "windows")) {
      List<String> rows = CommittedFiles.lines(folder.resolve(name + "_flink"));
      assertThat(rows).as("rows of " + name).isNotEmpty();
      assertThat(CommittedFiles.lines(folder.resolve(name + "_millrace")))
          .containsExactlyInAnyOrderElementsOf(rows);
    }
  }

  // What was executed, as the web UI shows it.
  private static String operatorsOf(String table) throws Exception {
    Matcher job =
        Pattern.compile("job (\\p{XDigit}+) insert-into_\\S+\\." + table + ",")
            .matcher(cluster.run("status").output());
    assertThat(job.find()).isTrue();
    return cluster.run("status", job.group(1)).output();
  }

  @Test
  void aStatementThatFailsEndsTheScript() throws Exception {
    MillraceProcess client = sql("SHOW TABLES;\nSELECT 1 / 0;\nSHOW VIEWS;\n", "--file");
    assertThat(client.exitCode()).isEqualTo(1);
    assertThat(client.output()).contains("Division by zero").doesNotContain("SHOW VIEWS");
    assertThat(client.error()).isEmpty();
  }

  @Test
  void aStatementWithoutAnEndFails() throws Exception {
    MillraceProcess set =
        sql("EXECUTE STATEMENT SET BEGIN\nINSERT INTO nothing VALUES (1);\n", "--file");
    assertThat(set.exitCode()).as(set.output()).isEqualTo(1);
    MillraceProcess quote = sql("SHOW TABLES;\nINSERT INTO nothing VALUES ('a);\n", "--file");
    assertThat(quote.exitCode()).as(quote.output()).isEqualTo(1);
    assertThat(quote.error()).contains("ends within quotes or a comment");
  }

  @Test
  void explainsScriptsWithoutRunningThem() throws Exception {
    MillraceProcess explained =
        sql(
            bids()
                + tables("explained")
                + QUERIES.formatted("explained")
                + "INSERT INTO nowhere SELECT price FROM bids;\n"
                + "SET 'execution.runtime-mode' = 'batch';\n"
                + "SELECT price FROM bids;\n",
            "--explain");
    assertThat(explained.exitCode()).isEqualTo(1);
    assertThat(explained.output())
        .containsPattern("line 4: INSERT INTO dear_explained .*\\n  Flink     Sink ")
        .containsPattern("\\n  Millrace  GlobalWindowAggregate\\n  Millrace  Exchange\\n")
        .contains("line 8, failed: INSERT INTO nowhere", "Cannot find table")
        .containsPattern("\\n\\d of \\d+ nodes would run on Millrace's operators; 0 of 2 queries")
        .contains("plans of batch mode stay Flink's: expected streaming mode")
        .contains("x TableSourceScan: its source gives rows\n      a table of a connector");
    assertThat(folder.resolve("dear_explained")).doesNotExist();
  }

  @Test
  void saysInOneLineWhatIsWrong() throws Exception {
    MillraceProcess refused = MillraceProcess.sql(folder, "--file=missing.sql");
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.error().lines().toList())
        .singleElement()
        .asString()
        .contains("cannot read the file 'missing.sql' of --file");
  }
}
