// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.testing.NothingHeldExtension;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs that aggregate by key. */
@ExtendWith(NothingHeldExtension.class)
class EtlGroupByTest {
  private static final String BIDS =
      """
      {"auction":1,"price":10,"channel":"web"}
      {"auction":2,"price":20,"channel":"app"}
      {"auction":1,"price":30,"channel":"app"}
      {"auction":null,"price":5,"channel":"web"}
      """;
  private static final String SCHEMA = "auction BIGINT, price INT, channel STRING";

  private EtlFolder folder;

  @BeforeEach
  void createFolder(@TempDir Path path) {
    folder = new EtlFolder(path);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "100"})
  void theLastRowOfEachKeyIsWritten(String batchRows) throws IOException {
    assertThat(
            folder.lines(
                "--input",
                folder.input(BIDS).toString(),
                "--schema",
                SCHEMA,
                "--select",
                "price * 2 AS twice, auction, channel",
                "--group-by",
                "auction",
                "--aggregates",
                "COUNT(*) AS bids, MAX(twice), COUNT(*) FILTER (WHERE channel = 'web') AS web",
                "--batch-rows",
                batchRows,
                "--csv-header"))
        .contains("auction,bids,MAX(`twice`),web")
        .contains("1,2,60,1", "2,1,40,0", ",1,10,1")
        .filteredOn(line -> !line.startsWith("auction"))
        .hasSize(3);
  }

  @Test
  void eachChangeSaysItsOperation() throws IOException {
    List<String> lines =
        folder.lines(
            "--input",
            folder.input(BIDS).toString(),
            "--schema",
            SCHEMA,
            "--group-by",
            "auction",
            "--aggregates",
            "SUM(price) AS total",
            "--group-by-result",
            "changes",
            "--batch-rows",
            "1",
            "--parallelism",
            "1",
            "--output-format",
            "json");
    assertThat(lines)
        .contains(
            "{\"op\":\"INSERT\",\"auction\":2,\"total\":20}",
            "{\"op\":\"INSERT\",\"auction\":null,\"total\":5}");
    // Small batches are joined behind the exchange, so both rows may be one change.
    assertThat(lines.stream().filter(line -> line.contains("\"auction\":1,")))
        .isIn(
            List.of("{\"op\":\"INSERT\",\"auction\":1,\"total\":40}"),
            List.of(
                "{\"op\":\"INSERT\",\"auction\":1,\"total\":10}",
                "{\"op\":\"UPDATE_BEFORE\",\"auction\":1,\"total\":10}",
                "{\"op\":\"UPDATE_AFTER\",\"auction\":1,\"total\":40}"));
  }

  @Test
  void rowsOfAKeyAreCombinedBeforeTheyAreSent() throws IOException {
    String input =
        folder.input("{\"k\":1,\"v\":5}\n{\"k\":2,\"v\":6}\n{\"k\":1,\"v\":9}\n").toString();
    assertThat(
            folder.lines(
                "--input",
                input,
                "--schema",
                "k INT, v INT",
                "--group-by",
                "k",
                "--aggregates",
                "MAX(v) AS v, COUNT(*) AS n",
                "--two-phase"))
        .containsExactlyInAnyOrder("1,9,2", "2,6,1");
  }

  /** An update that changes no result is written where keys are forgotten. */
  @Test
  void eachRowOfAKeyIsAChangeWithATimeToLive() throws IOException {
    assertThat(
            folder.lines(
                "--input",
                folder.input("{\"k\":1,\"v\":5}\n").toString(),
                "--schema",
                "k INT, v INT",
                "--group-by",
                "k",
                "--aggregates",
                "MAX(v) AS v",
                "--group-by-result",
                "changes",
                "--state-ttl",
                "1h"))
        .containsExactly("INSERT,1,5");
  }

  @ParameterizedTest
  @ValueSource(strings = {"last", "changes"})
  void theRowsOfGeneratedBidsAreCountedOnce(String result) throws IOException {
    Map<String, Long> counts = new TreeMap<>();
    for (String line :
        folder.lines(
            "--events",
            "30000",
            "--batch-rows",
            "1000",
            "--group-by",
            "auction",
            "--aggregates",
            "COUNT(*) AS bids",
            "--group-by-result",
            result)) {
      String[] fields = line.split(",", -1);
      if (result.equals("last")) {
        assertThat(counts.put(fields[0], Long.parseLong(fields[1]))).as(line).isNull();
      } else {
        long sign = fields[0].equals("UPDATE_BEFORE") ? -1 : 1;
        counts.merge(fields[1], sign * Long.parseLong(fields[2]), Long::sum);
      }
    }
    assertThat(counts.values().stream().mapToLong(Long::longValue).sum()).isEqualTo(30_000);
  }

  @Test
  void rowsThatCannotBeComputedAreNotAggregated() throws IOException {
    Path input =
        folder.input(
            "{\"k\":1,\"s\":\"7\"}\n{\"k\":1,\"s\":\"x\"}\nno json\n{\"k\":1,\"s\":\"8\"}\n");
    assertThat(
            folder.lines(
                "--input",
                input.toString(),
                "--schema",
                "k INT, s STRING",
                "--select",
                "k, CAST(s AS INT) AS n",
                "--group-by",
                "k",
                "--aggregates",
                "SUM(n), COUNT(*)"))
        .containsExactly("1,15,2");
    assertThat(EtlRun.lines(folder.badRows())).hasSize(2);
  }

  @Test
  void theExampleOfTheReadmeRuns() throws IOException {
    Path config = folder.exampleOfReadme("group-by");
    assertThat(
            folder.lines("--config", config.toString(), "--input", folder.input(BIDS).toString()))
        .contains("1,2,30,1", "2,1,20,0");
  }
}
