// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.error;

import io.millrace.annotation.Internal;
import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the name that the user probably meant. */
@Internal
public final class Suggestion {
  private Suggestion() {}

  /** Returns {@code ; did you mean 'nearest'?}, or an empty string if no name is similar. */
  public static String of(String name, Collection<String> names) {
    int limit = Math.max(1, name.length() / 3);
    Optional<String> nearest =
        names.stream()
            .filter(candidate -> distance(name, candidate) <= limit)
            .min(
                Comparator.comparingInt((String candidate) -> distance(name, candidate))
                    .thenComparing(Comparator.naturalOrder()));
    return nearest.map(found -> "; did you mean '" + found + "'?").orElse("");
  }

  /** Case-insensitive Levenshtein distance. */
  private static int distance(String left, String right) {
    String a = left.toLowerCase(Locale.ROOT);
    String b = right.toLowerCase(Locale.ROOT);
    int[] previous = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      previous[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] current = new int[b.length() + 1];
      current[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substituted = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        current[j] = Math.min(substituted, 1 + Math.min(previous[j], current[j - 1]));
      }
      previous = current;
    }
    return previous[b.length()];
  }
}
