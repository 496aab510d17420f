// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import io.millrace.process.LoggedProcess;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The spill files of a TaskManager as Linux sees them: a file has no name while it is used, but
 * {@code /proc} knows who has it open.
 */
final class SpillFiles {
  private static final String NAME = "millrace-.*\\.spill( \\(deleted\\))?";

  private SpillFiles() {}

  /** The descriptors of the spill files that {@code process} has open; they can be read from. */
  static List<Path> openIn(LoggedProcess process) throws IOException {
    List<Path> files = new ArrayList<>();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
      for (Path descriptor : descriptors.toList()) {
        if (isOfSpillFile(descriptor)) {
          files.add(descriptor);
        }
      }
    }
    return files;
  }

  private static boolean isOfSpillFile(Path descriptor) throws IOException {
    try {
      return hasName(Files.readSymbolicLink(descriptor));
    } catch (NoSuchFileException closedMeanwhile) {
      return false;
    }
  }

  /** The bytes that spilled memory takes in the files that {@code process} has open. */
  static long bytesOf(LoggedProcess process) throws IOException {
    long bytes = 0;
    for (Path file : openIn(process)) {
      bytes += Files.size(file);
    }
    return bytes;
  }

  /** Spill files in {@code folder} that have a name. Other files may come and go meanwhile. */
  static List<Path> namedIn(Path folder) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (hasName(file)) {
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException deletedMeanwhile) {
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, IOException deletedMeanwhile) {
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }

  private static boolean hasName(Path file) {
    return file.getFileName().toString().matches(NAME);
  }
}
