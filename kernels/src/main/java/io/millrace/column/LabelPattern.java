// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.Internal;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A {@link ColumnLabel} in which any level may be a wildcard. Levels beyond the pattern's are
 * wildcards too; levels that a label does not have are empty names.
 *
 * @param levels the name to match at each level; empty for any name
 */
@Internal
public record LabelPattern(List<Optional<String>> levels) {
  /** In {@link #of}, the level at which every name matches. */
  public static final String ANY = "*";

  public LabelPattern {
    levels = List.copyOf(levels);
  }

  /** A pattern of names and {@link #ANY}. */
  public static LabelPattern of(String... levels) {
    return new LabelPattern(
        Arrays.stream(levels)
            .map(level -> level.equals(ANY) ? Optional.<String>empty() : Optional.of(level))
            .toList());
  }

  public boolean matches(ColumnLabel label) {
    for (int i = 0; i < levels.size(); i++) {
      String name = i < label.levels().size() ? label.levels().get(i) : "";
      if (!levels.get(i).map(name::equals).orElse(true)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public String toString() {
    return levels.stream()
        .map(level -> level.orElse(ANY))
        .collect(Collectors.joining(", ", "(", ")"));
  }
}
