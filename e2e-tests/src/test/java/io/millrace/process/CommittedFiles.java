// SPDX-License-Identifier: Apache-2.0
package io.millrace.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The files of a sink as its readers see them: hidden ones are not committed. */
public final class CommittedFiles {
  private CommittedFiles() {}

  /** The committed files of {@code folder}; none if it does not exist. */
  public static List<Path> in(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(CommittedFiles::isCommitted).toList();
    }
  }

  /** The lines of all committed files of {@code folder}; none if it does not exist. */
  public static List<String> lines(Path folder) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path file : in(folder)) {
      lines.addAll(Files.readAllLines(file, UTF_8));
    }
    return lines;
  }

  private static boolean isCommitted(Path file) {
    return Files.isRegularFile(file) && !file.getFileName().toString().startsWith(".");
  }
}
