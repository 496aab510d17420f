// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import java.util.List;

/**
 * The label of a column in a {@link ColumnAccessor}: one name per level.
 *
 * @param levels at least one
 */
@PublicEvolving
public record ColumnLabel(List<String> levels) {
  public ColumnLabel {
    levels = List.copyOf(levels);
    if (levels.isEmpty()) {
      throw new IllegalArgumentException("a label needs a level");
    }
  }

  public static ColumnLabel of(String... levels) {
    return new ColumnLabel(List.of(levels));
  }

  /** Whether the first levels of this label equal {@code prefix}. */
  public boolean startsWith(ColumnLabel prefix) {
    int length = prefix.levels.size();
    return length <= levels.size() && levels.subList(0, length).equals(prefix.levels);
  }

  /** The label without its first {@code count} levels; the label must have more levels. */
  ColumnLabel withoutFirst(int count) {
    return new ColumnLabel(levels.subList(count, levels.size()));
  }

  @Override
  public String toString() {
    return levels.size() == 1 ? levels.get(0) : "(" + String.join(", ", levels) + ")";
  }
}
