// SPDX-License-Identifier: Apache-2.0
package io.millrace.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Comments, messages, names and pages do without phrases that readers stumble over. */
class PlainEnglishTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern TEXT =
      Pattern.compile(".*\\.(java|cuh?|md|yaml|properties|sh)|millrace|\\.ci/run|scripts/.*");

  // Generated from descriptions in Java sources, which are checked themselves.
  private static final String FUNCTION_REFERENCE = "docs/functions/";
  private static final Path THIS =
      Path.of("e2e-tests/src/test/java/io/millrace/architecture/PlainEnglishTest.java");

  /** The phrases, each a pattern within a line, with its reason. */
  private enum Phrase {
    ONE_A(
        "\\b[Oo]ne an? (?!time\\b)[a-z]",
        "'one a device' reads as a misprint; write 'one per device'"),
    IS_NO(
        "(?<!there )\\b(?:is|are) no (?:[A-Z]|\")|\" (?:is|are) no ",
        "'x is no BIGINT' is archaic; write \"expected BIGINT for 'x', got INT\""),
    MUST_BE_BUT_IS(
        "must (?:be|have) [^.]*, but (?:is|are|was|has)\\b",
        "messages name both values in one order: 'expected at least 1, got 0'"),
    THAT_OF(
        "(?:^|[.;:] |/\\*\\* ?|\\* |// ?)(?:That|Those) of\\b",
        "a sentence that begins so has no antecedent; repeat the noun"),
    OF(
        "^\\s*/\\*\\* Of ",
        "a contract that begins with 'Of' has no subject; name what is described"),
    GONE_ON_WITH(
        "\\b(?:go|goes|going|gone) on with\\b",
        "write 'continue', 'resume', or 'has several consumers'"),
    IS_HAD("\\b(?:is|are|be) had\\b", "write 'is available', or who gets it"),
    BUT_FOR("\\bbut for (?:an?|the|one|that|those|its|their)\\b", "write 'except'"),
    FOR_GOOD("\\bfor good\\b", "write 'permanently', or until when it lasts"),
    ANEW("\\banew\\b|\\bforetold\\b|\\bin vain\\b", "write 'again', 'predicted', 'without need'"),
    IF_THAT_WILL_DO("\\bif that will do\\b", "name the condition"),
    MOST_AND_LEAST("\\b(?:MOST|LEAST)_(?!RECENT)[A-Z]", "limits are called MAX_ and MIN_"),
    ARCHAIC(
        "\\blest\\b|\\bwhence\\b|\\bhence\\b|\\bthereof\\b|\\bheretofore\\b|\\bwherein\\b",
        "nobody says that any more"),
    OPEN_POINTS("\\bFIXME\\b|\\bXXX\\b|\\bTODO\\b", "open points are issues, not comments");

    private final Pattern pattern;
    private final String reason;

    Phrase(String pattern, String reason) {
      this.pattern = Pattern.compile(pattern);
      this.reason = reason;
    }
  }

  @ParameterizedTest
  @EnumSource
  void noFileHas(Phrase phrase) throws IOException {
    assumeTrue(Files.exists(ROOT.resolve(".git")), "not a git checkout");
    List<String> found = new ArrayList<>();
    for (String file : GitFiles.list(ROOT)) {
      if (isText(file)) {
        List<String> lines = Files.readAllLines(ROOT.resolve(file));
        for (int i = 0; i < lines.size(); i++) {
          if (phrase.pattern.matcher(lines.get(i)).find()) {
            found.add(file + ":" + (i + 1) + ": " + lines.get(i).strip());
          }
        }
      }
    }
    assertThat(found).as(phrase.reason).isEmpty();
  }

  private static boolean isText(String file) {
    return TEXT.matcher(file).matches()
        && !file.startsWith(FUNCTION_REFERENCE)
        && !Path.of(file).equals(THIS);
  }
}
