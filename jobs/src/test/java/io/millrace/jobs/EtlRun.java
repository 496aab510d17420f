// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static java.util.Comparator.comparing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A finished run of the job in this process. */
record EtlRun(int exitCode, String out, String err) {

  /** Runs the job to its end. */
  static EtlRun of(String... arguments) {
    return of(new CompletableFuture<>(), arguments);
  }

  /**
   * Runs the job to its end.
   *
   * @param stop asks it to stop when it is complete
   */
  static EtlRun of(CompletableFuture<Integer> stop, String... arguments) {
    String[] all =
        Stream.concat(Stream.of(arguments), Stream.of("--checkpoint-interval", "500ms"))
            .toArray(String[]::new);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int exitCode =
        StreamingEtl.run(
            all,
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8),
            stop);
    return new EtlRun(
        exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  /** The lines of the files that are committed, in the order in which each subtask wrote them. */
  static List<String> lines(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> file.getFileName().toString().matches("(compacted-)?part-.*"))
          // The counter at the end of a file's name has no leading zeros.
          .sorted(comparing((Path file) -> file.toString().length()).thenComparing(file -> file))
          .flatMap(EtlRun::linesOf)
          .toList();
    }
  }

  private static Stream<String> linesOf(Path file) {
    try {
      return Files.readAllLines(file).stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
