// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The committed files of a sink. */
public final class OutputFolder {
  private OutputFolder() {}

  /** The files under their final names, also of folders within. */
  public static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> !file.getFileName().toString().startsWith("."))
          .sorted()
          .toList();
    }
  }

  /** The lines of all files, sorted. */
  public static List<String> sortedLines(Path folder) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path file : files(folder)) {
      lines.addAll(Files.readAllLines(file));
    }
    return lines.stream().sorted().toList();
  }
}
