// SPDX-License-Identifier: Apache-2.0
package io.millrace.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The files that git knows. */
final class GitFiles {
  private GitFiles() {}

  /** The tracked files below a folder, by their paths from it; a deleted file is left out. */
  static List<String> list(Path folder) throws IOException {
    Process git = new ProcessBuilder("git", "ls-files", "-z").directory(folder.toFile()).start();
    git.getOutputStream().close();
    String names = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      assertThat(git.waitFor()).as("exit status of git ls-files").isZero();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while git ran", e);
    }
    return Arrays.stream(names.split("\0", -1))
        .filter(name -> !name.isEmpty() && Files.exists(folder.resolve(name)))
        .toList();
  }
}
