// SPDX-License-Identifier: Apache-2.0
package io.millrace.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The files of the repository, as git lists them: kinds that are known, of a size that can be
 * reviewed, without what machines leave behind. After TigerBeetle's tidy test.
 */
class TidyTest {
  private static final Path ROOT = Path.of("..");
  private static final String LICENSE = "SPDX-License-Identifier: Apache-2.0";
  private static final int LICENSE_WITHIN_LINES = 3;

  private static final int KIB = 1024;

  /**
   * Files that the repository may hold. The first kind that a path matches counts; a path that
   * matches none is refused.
   */
  private static final List<Kind> KINDS =
      List.of(
          source(".*/src/(main|test|libcudf)/java/.*\\.java", 20 * KIB),
          source("kernels/src/main/cuda/.*\\.cuh?", 20 * KIB),
          source("(kernels|operators|e2e-tests)/src/test/resources/.*\\.cu", 4 * KIB),
          text("kernels/src/main/ptx/(function/)?\\w+\\.ptx", 1024 * KIB),
          text("kernels/src/main/ptx/kernels\\.sha256", 8 * KIB),
          text("(kernels|operators|e2e-tests)/src/test/resources/.*\\.ptx", 8 * KIB),
          source("millrace|\\.ci/run|scripts/([\\w-]+/)*[\\w-]+", 20 * KIB),
          source("e2e-tests/containers/\\w+\\.sh", 20 * KIB),
          source("e2e-tests/src/test/resources/services/[\\w-]+\\.sh", 4 * KIB),
          text("(.*/)?pom\\.xml", 32 * KIB),
          text(".*/src/test/resources/.*log4j2\\.xml", 4 * KIB),
          text(".*/resources/META-INF/services/[\\w.]+", KIB),
          text(".*/resources/[\\w./-]+\\.(properties|txt)", 16 * KIB),
          text("jobs/src/main/launcher/jvm\\.flags", KIB),
          source("jobs/deploy/Dockerfile", 4 * KIB),
          text("jobs/deploy/[\\w./-]+\\.(yaml|yml|json)", 16 * KIB),
          text("docs/.*\\.md|[A-Z]+\\.md", 32 * KIB),
          text("docs/[\\w-]+\\.yaml", 4 * KIB),
          text("docs/([\\w-]+/)*[\\w-]+\\.svg", 64 * KIB),
          binary("docs/benchmarks/[\\w-]+\\.png", 64 * KIB),
          text("docs/benchmarks/[\\w-]+\\.csv", 64 * KIB),
          text("(kernels|operators)/src/test/resources/.*\\.csv", 100 * KIB),
          text(".*/src/test/resources/.*/README\\.md", 4 * KIB),
          binary("kernels/src/test/resources/.*\\.arrows", 16 * KIB),
          text("LICENSE|NOTICE|\\.gitignore|\\.gitattributes|\\.editorconfig", 16 * KIB),
          text("\\.mvn/jvm\\.config", 2 * KIB));

  // Of the machine that wrote the file; documentation may name /tmp.
  private static final Pattern PATH_OF_A_MACHINE =
      Pattern.compile("(?<![\\w.~}])/(home|Users|root|work|workspace)/\\w");

  private static List<String> files;

  /**
   * A kind of file.
   *
   * @param path what the whole path from the root matches
   * @param maxBytes a larger file is refused
   * @param isText whether it is read as UTF-8
   * @param isSource whether it needs the licence line
   */
  private record Kind(Pattern path, long maxBytes, boolean isText, boolean isSource) {}

  private static Kind source(String path, long maxBytes) {
    return new Kind(Pattern.compile(path), maxBytes, true, true);
  }

  private static Kind text(String path, long maxBytes) {
    return new Kind(Pattern.compile(path), maxBytes, true, false);
  }

  private static Kind binary(String path, long maxBytes) {
    return new Kind(Pattern.compile(path), maxBytes, false, false);
  }

  @BeforeAll
  static void listFiles() throws IOException {
    assumeTrue(Files.exists(ROOT.resolve(".git")), "not a git checkout");
    files = GitFiles.list(ROOT);
    assertThat(files).contains("pom.xml", "README.md");
  }

  private static Optional<Kind> kindOf(String file) {
    return KINDS.stream().filter(kind -> kind.path().matcher(file).matches()).findFirst();
  }

  @Test
  void everyFileIsOfAKnownKind() {
    assertThat(files.stream().filter(file -> kindOf(file).isEmpty()))
        .as("files that match none of KINDS")
        .isEmpty();
  }

  @Test
  void everyKindHasFiles() {
    for (Kind kind : KINDS) {
      assertThat(files).anyMatch(file -> kind.path().matcher(file).matches());
    }
  }

  @Test
  void filesAreSmall() throws IOException {
    List<String> found = new ArrayList<>();
    for (String file : files) {
      long bytes = Files.size(ROOT.resolve(file));
      long limit = kindOf(file).map(Kind::maxBytes).orElse(Long.MAX_VALUE);
      if (bytes > limit) {
        found.add("%s: expected at most %d bytes, got %d".formatted(file, limit, bytes));
      }
    }
    assertThat(found).isEmpty();
  }

  @Test
  void sourcesBeginWithTheLicence() throws IOException {
    List<String> found = new ArrayList<>();
    for (String file : files) {
      if (kindOf(file).filter(Kind::isSource).isPresent()
          && lines(file).stream().limit(LICENSE_WITHIN_LINES).noneMatch(l -> l.contains(LICENSE))) {
        found.add(file);
      }
    }
    assertThat(found).as("sources without " + LICENSE).isEmpty();
  }

  @Test
  void textNamesNoPathOfAMachine() throws IOException {
    List<String> found = new ArrayList<>();
    for (String file : files) {
      if (kindOf(file).filter(Kind::isText).isPresent()) {
        List<String> lines = lines(file);
        for (int i = 0; i < lines.size(); i++) {
          if (PATH_OF_A_MACHINE.matcher(lines.get(i)).find()) {
            found.add(file + ":" + (i + 1) + ": " + lines.get(i).strip());
          }
        }
      }
    }
    assertThat(found).isEmpty();
  }

  /** Also refuses text that is not UTF-8. */
  private static List<String> lines(String file) throws IOException {
    return Files.readAllLines(ROOT.resolve(file), StandardCharsets.UTF_8);
  }
}
