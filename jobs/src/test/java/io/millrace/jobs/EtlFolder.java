// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The input and the output of a job. */
record EtlFolder(Path path) {
  private static final Path README = Path.of("../README.md");

  /** Writes the input. */
  Path input(String text) throws IOException {
    return Files.writeString(path.resolve("in.json"), text);
  }

  Path output() {
    return path.resolve("out");
  }

  /** The rows that could not be computed. */
  Path badRows() {
    return path.resolve("out-bad");
  }

  /** Runs a job with the output here to its end. */
  EtlRun run(List<String> first, String... more) {
    List<String> all = new ArrayList<>(first);
    all.addAll(List.of(more));
    all.addAll(List.of("--output", output().toString()));
    return EtlRun.of(all.toArray(String[]::new));
  }

  /** Runs a job that succeeds, and returns the lines of its output. */
  List<String> lines(List<String> first, String... more) throws IOException {
    EtlRun run = run(first, more);
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    return EtlRun.lines(output());
  }

  List<String> lines(String... arguments) throws IOException {
    return lines(List.of(), arguments);
  }

  /** The configuration in the README that has {@code key}. */
  Path exampleOfReadme(String key) throws IOException {
    assumeTrue(Files.exists(README), "only where the sources are");
    Matcher example =
        Pattern.compile("(?s)```yaml\n([^`]*" + key + ":.*?)```").matcher(Files.readString(README));
    assertThat(example.find()).isTrue();
    return Files.writeString(path.resolve("etl.yaml"), example.group(1));
  }
}
