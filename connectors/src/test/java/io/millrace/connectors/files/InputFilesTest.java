// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InputFilesTest {
  @TempDir Path folder;

  @BeforeEach
  void createFiles() throws IOException {
    for (String name : List.of("x/a.csv", "x/b.csv", "x/c.json", "x/.hidden.csv", "y/a.csv")) {
      Path file = folder.resolve(name);
      Files.createDirectories(file.getParent());
      Files.createFile(file);
    }
  }

  private List<String> resolve(String... patterns) throws IOException {
    List<String> paths = List.of(patterns).stream().map(name -> folder + "/" + name).toList();
    return InputFiles.resolve(paths).stream()
        .map(path -> folder.relativize(Path.of(path.getPath())).toString())
        .toList();
  }

  @Test
  void pathsAndGlobs() throws IOException {
    assertThat(resolve("x/a.csv")).containsExactly("x/a.csv");
    assertThat(resolve("x")).containsExactly("x");
    assertThat(resolve("x/*.csv")).containsExactly("x/a.csv", "x/b.csv");
    assertThat(resolve("*/a.*")).containsExactly("x/a.csv", "y/a.csv");
    assertThat(resolve("{x,z}/[bc].*", "y")).containsExactly("x/b.csv", "x/c.json", "y");
    assertThat(resolve("x/.hidden.csv")).containsExactly("x/.hidden.csv");
  }

  @Test
  void everythingMissingIsNamed() {
    assertThatThrownBy(() -> resolve("x/a.csv", "none.csv", "x/*.txt", "none/*/a"))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessage(
            "no file to read matches "
                + String.join(
                    ", ", folder + "/none.csv", folder + "/x/*.txt", folder + "/none/*/a"));
    assertThatThrownBy(() -> TextFileSource.of(List.of()).create())
        .isInstanceOf(FileNotFoundException.class);
  }
}
