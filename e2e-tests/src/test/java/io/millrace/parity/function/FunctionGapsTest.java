// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.function;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.expression.resolve.FunctionRegistry;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Expressions have each scalar function of Flink, or a reason why not. */
class FunctionGapsTest {
  private static final FunctionRegistry FUNCTIONS = FunctionRegistry.builtIn();

  private final Set<String> have = new TreeSet<>();
  private final Set<String> missing = new TreeSet<>();

  @Test
  void eachFunctionOfFlinkIsThereOrAKnownGap() {
    FlinkFunctions.scalar()
        .forEach(
            (name, alias) -> {
              boolean isThere =
                  FUNCTIONS.find(name.replace('·', ' ')).isPresent()
                      || FUNCTIONS.find(alias).isPresent();
              (isThere ? have : missing).add(name);
            });
    System.out.println("functions of Flink's: " + have.size() + ", not there: " + missing.size());
    for (KnownGap gap : KnownGap.values()) {
      System.out.println(
          gap.names().size() + " " + gap.reason() + ": " + new TreeSet<>(gap.names()));
    }

    Set<String> known =
        Arrays.stream(KnownGap.values())
            .flatMap(gap -> gap.names().stream())
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(missing).as("functions that are not there").isEqualTo(known);
    assertThat(Arrays.stream(KnownGap.values()).mapToInt(gap -> gap.names().size()).sum())
        .as("each gap has one reason")
        .isEqualTo(known.size());
  }
}
