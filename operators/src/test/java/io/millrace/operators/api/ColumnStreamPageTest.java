package io.millrace.operators.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The examples of the guide are text of tests that run: {@link ColumnStreamGuideTest}. */
class ColumnStreamPageTest {
  private static final Path PAGE = Path.of("../docs/column-stream.md");
  private static final Path TESTS =
      Path.of("src/test/java/io/millrace/operators/api/ColumnStreamGuideTest.java");
  private static final Pattern EXAMPLE = Pattern.compile("(?s)```java\n(.*?)```");
  private static final int LEAST_EXAMPLES = 8;

  @Test
  void eachExampleIsTheTextOfATest() throws IOException {
    assumeTrue(Files.exists(PAGE), "only where the sources are");
    List<String> tests =
        Arrays.stream(Files.readString(TESTS).split("@Test\n", -1))
            .skip(1)
            .map(ColumnStreamPageTest::normalized)
            .toList();
    List<String> examples =
        EXAMPLE
            .matcher(Files.readString(PAGE))
            .results()
            .map(result -> normalized(result.group(1)))
            .toList();
    assertThat(examples)
        .hasSizeGreaterThanOrEqualTo(LEAST_EXAMPLES)
        .allSatisfy(
            example ->
                assertThat(tests)
                    .as("a test with the text\n%s", example)
                    .anyMatch(test -> test.contains(example)));
  }

  /** The lines without their indentation and without empty ones. */
  private static String normalized(String code) {
    return code.lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty())
        .collect(Collectors.joining("\n"));
  }
}
