// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.Internal;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * An ordered mapping of labels to columns of one size, with selection by position, label, prefix
 * and pattern. The design is cuDF's ColumnAccessor.
 *
 * <p>Labels have as many names as the accessor has levels, or fewer. An accessor does not own its
 * columns: their owner closes them, and a selection is only valid until then. Used by one thread at
 * a time.
 */
@Internal
public final class ColumnAccessor {
  private final List<String> levelNames;
  private final Map<ColumnLabel, Column> columns = new LinkedHashMap<>();

  /** Positions from {@code start} up to but not including {@code end}; 0 <= start <= end. */
  public record IndexRange(int start, int end) {
    public IndexRange {
      if (start < 0 || start > end) {
        throw new IllegalArgumentException("no range of positions: " + start + " to " + end);
      }
    }
  }

  /**
   * Labels from {@code first} to {@code last}, which are both within. Either may be a prefix: the
   * range then reaches from the first label that starts with {@code first} to the last label that
   * starts with {@code last}.
   */
  public record LabelRange(ColumnLabel first, ColumnLabel last) {
    public LabelRange {
      Objects.requireNonNull(first, "first is null");
      Objects.requireNonNull(last, "last is null");
    }
  }

  /** The labels of an accessor, in order, and the names of their levels. */
  public record LabelIndex(List<ColumnLabel> labels, List<String> levelNames) {
    public LabelIndex {
      labels = List.copyOf(labels);
      levelNames = List.copyOf(levelNames);
    }
  }

  /** An accessor without columns, whose levels have no names. */
  public ColumnAccessor(int levels) {
    this(Collections.nCopies(levels, ""));
  }

  /**
   * An accessor without columns.
   *
   * @param levelNames one name per level, at least one; empty for a level without a name
   */
  public ColumnAccessor(List<String> levelNames) {
    if (levelNames.isEmpty()) {
      throw new IllegalArgumentException("an accessor needs a level");
    }
    this.levelNames = List.copyOf(levelNames);
  }

  public int levels() {
    return levelNames.size();
  }

  /** One name per level; empty for a level without a name. */
  public List<String> levelNames() {
    return levelNames;
  }

  public int size() {
    return columns.size();
  }

  /** The labels in order. */
  public List<ColumnLabel> labels() {
    return List.copyOf(columns.keySet());
  }

  /** The columns in order. */
  public List<Column> columns() {
    return List.copyOf(columns.values());
  }

  /** The labels in order with the names of their levels. */
  public LabelIndex toIndex() {
    return new LabelIndex(labels(), levelNames);
  }

  public boolean contains(ColumnLabel label) {
    return columns.containsKey(label);
  }

  /**
   * The column with this label.
   *
   * @throws IllegalArgumentException if there is none; the message lists the labels
   */
  public Column get(ColumnLabel label) {
    Column column = columns.get(label);
    if (column == null) {
      throw unknown(label);
    }
    return column;
  }

  /**
   * Sets the column with this label, which keeps its place; a new label comes last.
   *
   * @throws IllegalArgumentException if the label has more levels than the accessor, or the column
   *     another size than the others
   */
  public void put(ColumnLabel label, Column column) {
    checkFits(label, column);
    columns.put(label, column);
  }

  /**
   * Inserts a column so that it is at {@code location}.
   *
   * @throws IllegalArgumentException as {@link #put}, and if there is such a label already
   * @throws IndexOutOfBoundsException unless 0 <= location <= size
   */
  public void insert(ColumnLabel label, Column column, int location) {
    Objects.checkIndex(location, columns.size() + 1);
    checkFits(label, column);
    if (contains(label)) {
      throw new IllegalArgumentException("there is a column '" + label + "' already");
    }
    List<Map.Entry<ColumnLabel, Column>> later =
        columns.entrySet().stream().skip(location).map(Map.Entry::copyOf).toList();
    columns.put(label, column);
    for (Map.Entry<ColumnLabel, Column> entry : later) {
      columns.remove(entry.getKey());
      columns.put(entry.getKey(), entry.getValue());
    }
  }

  /**
   * Removes and gives the column with this label.
   *
   * @throws IllegalArgumentException if there is none; the message lists the labels
   */
  public Column pop(ColumnLabel label) {
    Column column = get(label);
    columns.remove(label);
    return column;
  }

  /**
   * The columns at these positions, in this order.
   *
   * @throws IndexOutOfBoundsException if there is no such position
   * @throws IllegalArgumentException if a position is named twice
   */
  public ColumnAccessor selectByIndex(int... indices) {
    List<ColumnLabel> labels = labels();
    return select(
        Arrays.stream(indices)
            .mapToObj(index -> labels.get(Objects.checkIndex(index, labels.size())))
            .toList());
  }

  /**
   * The columns at these positions.
   *
   * @throws IndexOutOfBoundsException if the range ends behind the last column
   */
  public ColumnAccessor selectByIndex(IndexRange range) {
    return selectByIndex(IntStream.range(range.start(), range.end()).toArray());
  }

  /**
   * The column with this label, under this label; or, if {@code label} is a prefix of labels, the
   * columns that have it, under their labels without the prefix.
   *
   * @throws IllegalArgumentException if there is neither; the message lists the labels
   */
  public ColumnAccessor selectByLabel(ColumnLabel label) {
    if (contains(label)) {
      return select(List.of(label));
    }
    int dropped = label.levels().size();
    if (dropped >= levels()) {
      throw unknown(label);
    }
    ColumnAccessor selected = new ColumnAccessor(levelNames.subList(dropped, levels()));
    startingWith(label)
        .forEach(known -> selected.put(known.withoutFirst(dropped), columns.get(known)));
    return selected;
  }

  /**
   * The columns with these labels, in this order; a prefix stands for all labels that have it,
   * which stay whole.
   *
   * @throws IllegalArgumentException if a label is unknown, or a column is named twice
   */
  public ColumnAccessor selectByLabels(List<ColumnLabel> labels) {
    return select(labels.stream().flatMap(label -> startingWith(label).stream()).toList());
  }

  /**
   * The columns whose labels are in the range.
   *
   * @throws IllegalArgumentException if an end is unknown, or the last is before the first
   */
  public ColumnAccessor selectByLabels(LabelRange range) {
    List<ColumnLabel> labels = labels();
    List<ColumnLabel> last = startingWith(range.last());
    int start = labels.indexOf(startingWith(range.first()).get(0));
    int end = labels.indexOf(last.get(last.size() - 1)) + 1;
    if (end <= start) {
      throw new IllegalArgumentException(
          "'" + range.last() + "' is before '" + range.first() + "' in " + labels);
    }
    return select(labels.subList(start, end));
  }

  /**
   * The columns whose labels match, under their whole labels.
   *
   * @throws IllegalArgumentException if no label matches; the message lists the labels
   */
  public ColumnAccessor selectByPattern(LabelPattern pattern) {
    return select(matching(pattern::matches, pattern));
  }

  private ColumnAccessor select(List<ColumnLabel> labels) {
    ColumnAccessor selected = new ColumnAccessor(levelNames);
    for (ColumnLabel label : labels) {
      if (selected.columns.put(label, columns.get(label)) != null) {
        throw new IllegalArgumentException("column '" + label + "' is selected twice");
      }
    }
    return selected;
  }

  private List<ColumnLabel> startingWith(ColumnLabel prefix) {
    return matching(label -> label.startsWith(prefix), prefix);
  }

  private List<ColumnLabel> matching(Predicate<ColumnLabel> wanted, Object selection) {
    List<ColumnLabel> matching = columns.keySet().stream().filter(wanted).toList();
    if (matching.isEmpty()) {
      throw unknown(selection);
    }
    return matching;
  }

  private void checkFits(ColumnLabel label, Column column) {
    if (label.levels().size() > levels()) {
      throw new IllegalArgumentException(
          "label '" + label + "' has more levels than the accessor, which has " + levels());
    }
    for (Map.Entry<ColumnLabel, Column> other : columns.entrySet()) {
      if (!other.getKey().equals(label) && other.getValue().size() != column.size()) {
        throw new IllegalArgumentException(
            "column '"
                + label
                + "' has "
                + column.size()
                + " elements, the others have "
                + other.getValue().size());
      }
    }
  }

  private IllegalArgumentException unknown(Object selection) {
    return new IllegalArgumentException(
        "there is no column '" + selection + "'; the columns are " + labels());
  }

  @Override
  public String toString() {
    return columns + " with levels " + levelNames;
  }
}
