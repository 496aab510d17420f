// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.testing.NothingHeldExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(NothingHeldExtension.class)
class StreamingEtlTest {
  private static final String BIDS =
      """
      {"auction": 1, "price": 10, "note": "a"}
      {"auction": "one", "price": 11, "note": "b"}
      not json
      {"auction": 2, "price": 12, "note": null}
      """;

  @TempDir Path folder;

  @Test
  void everyGeneratedRowIsWrittenOnce() throws IOException {
    EtlRun outcome =
        run("--events", "30000", "--select", "auction, date_time, CAST(price AS DOUBLE) AS eur");
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.exitCode()).isZero();
    assertThat(outcome.out())
        .startsWith("device: ")
        .containsPattern("rows in +30,000")
        .containsPattern("rows out +30,000");
    List<String> lines = EtlRun.lines(folder.resolve("out"));
    assertThat(lines).hasSize(30_000).allMatch(line -> line.matches("\\d+,[-0-9T:.]+,[0-9.E]+"));
  }

  @Test
  void rowsAreFilteredAndComputedBySql() throws IOException {
    EtlRun outcome =
        run(
            "--events",
            "30000",
            "--where",
            "auction BETWEEN 1000 AND 1010 AND channel LIKE 'A%'",
            "--select",
            "auction, price * 2 AS twice, UPPER(channel) AS channel");
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.out()).containsPattern("rows in +30,000");
    assertThat(EtlRun.lines(folder.resolve("out")))
        .hasSizeBetween(1, 29_999)
        .allMatch(line -> line.matches("10(0[0-9]|10),\\d+,A[A-Z]+"));
  }

  @Test
  void anyTypeOfKeyCanBeDiscarded() {
    EtlRun outcome = run("--events", "20000", "--key", "date_time", "--sink", "discard");
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.out())
        .containsPattern("rows out +20,000")
        .containsPattern("output +discarded");
  }

  @Test
  void rowsThatDoNotParseAreKeptWithTheirReasonAndPosition() throws IOException {
    EtlRun outcome = run(filesSource());
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.exitCode()).isZero();
    assertThat(outcome.out()).containsPattern("rows out +2").containsPattern("bad rows +2");
    assertThat(EtlRun.lines(folder.resolve("out"))).containsExactlyInAnyOrder("1,10.0", "2,12.0");
    assertThat(EtlRun.lines(folder.resolve("out-bad")))
        .hasSize(2)
        .anyMatch(line -> line.contains("\"offset\":41") && line.contains("column 'auction'"))
        .anyMatch(line -> line.contains("\"text\":\"not json\""));
  }

  @Test
  void onErrorFailStopsWithTheReasonAndPosition() throws IOException {
    List<String> arguments = new ArrayList<>(Arrays.asList(filesSource()));
    arguments.addAll(List.of("--on-error", "fail"));
    EtlRun outcome = run(arguments.toArray(String[]::new));
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.err())
        .startsWith("millrace etl: the job failed: ")
        .contains("bids.json")
        .contains("41")
        .contains("column 'auction'");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--key nope | partition.by: there is no column 'nope'; the columns are auction, bidder",
        "--source files --input pom.xml --schema a+ARRAY<INT> | partition.by: column 'a' cannot be a key: expected a scalar type, got ARRAY<INT>",
        "--select nope | select, column 1: there is no column 'nope'; the columns are auction, bidder",
        "--select UPER(channel) | select, column 1: there is no function UPER; did you mean 'UPPER'?",
        "--where price+=+channel | where, column 1: (`price` = `channel`): ",
        "--group-by auction | group-by.keys needs group-by.aggregates",
        "--group-by nope --aggregates COUNT(*) | group-by: there is no column 'nope'",
        "--group-by auction --aggregates price | group-by.aggregates, column 1: expected an aggregate function, one of COUNT, SUM, MIN, MAX, AVG, FIRST_VALUE, LAST_VALUE, STDDEV_POP, STDDEV_SAMP, STDDEV, VAR_POP, VAR_SAMP, VARIANCE, LISTAGG, got 'price'",
        "--group-by auction --aggregates COUNT(*)+AS+auction | group-by: ",
        "--group-by auction --select auction,price+AS+op --aggregates MAX(op)+AS+op --group-by-result changes | group-by: ",
        "--group-by auction --aggregates COUNT(*) --events 0 | group-by.result: last needs input that ends, and source.events is 0; set changes",
        "--group-by auction --aggregates COUNT(*) --key auction | partition.by has no effect here: it is used only where group-by.keys is not given",
        "--source files --input pom.xml --schema s+STRING,k+INT --group-by k --aggregates SUM(CAST(s+AS+INT)) | group-by.aggregates: CAST(`s` AS INT) can fail for a row; compute it in select, which skips such rows, or set on-error to fail",
        "--bogus | Unknown option: '--bogus'; --help lists the options",
        "--parallelizm=3 | Unknown option: '--parallelizm=3'; did you mean --parallelism?; --help lists",
        "--events | Expected parameter for option '--events' but found '--output'; --help lists the options",
        "--append --overwrite | --append and --overwrite exclude each other",
        "--csv-delimiter ab | csv.delimiter: expected one character, got 'ab'",
        "--csv-delimiter \" | csv.delimiter: fields cannot be delimited by '\"'",
        "--resume none | --resume: there is no savepoint or checkpoint in none",
        "--sink printer | sink.type: expected one of files, kafka, postgres, discard, got 'printer'",
        "--source files | reading files needs source.path",
        "--source files --input pom.xml --schema a+ARRAY<ROW<x+INT,y+INT>> | partition.by: column 'a' cannot be a key: expected a scalar type, got ARRAY<ROW<x INT, y INT>>",
        "--source files --input none.json --schema a+INT | no file to read matches none.json",
        "--source files --input pom.xml --schema a+NUMBER | expected a column type, got 'NUMBER'",
        "--source files --input pom.xml --schema a | cannot read 'a' as a column; write a name",
        "--device gpu | expected auto, cuda or host for millrace.device, got 'gpu'",
        "--config none.yaml | cannot read the file none.yaml",
      })
  void wrongUsageIsOneLineAndWritesNothing(String arguments, String message) throws IOException {
    EtlRun outcome =
        run(
            Stream.of(arguments.split(" "))
                .map(argument -> argument.replace('+', ' '))
                .toArray(String[]::new));
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err()).startsWith("millrace etl: " + message);
    assertThat(outcome.err().lines()).hasSize(1);
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void helpListsTheOptions() {
    EtlRun outcome = run("--help");
    assertThat(outcome.exitCode()).isZero();
    assertThat(outcome.out()).contains("--select", "--group-by", "--key", "--web", "Exit codes");
  }

  private String[] filesSource() throws IOException {
    Path input = folder.resolve("bids.json");
    Files.writeString(input, BIDS);
    return new String[] {
      "--source", "files",
      "--input", input.toString(),
      "--schema", "auction BIGINT, price INT, note STRING",
      "--select", "auction, CAST(price AS DOUBLE) AS price"
    };
  }

  private EtlRun run(String... arguments) {
    List<String> all = new ArrayList<>(Arrays.asList(arguments));
    if (!all.contains("discard")) {
      all.addAll(List.of("--output", folder.resolve("out").toString()));
    }
    return EtlRun.of(all.toArray(String[]::new));
  }
}
