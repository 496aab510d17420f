// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.ColumnAccessor.IndexRange;
import io.millrace.column.ColumnAccessor.LabelIndex;
import io.millrace.column.ColumnAccessor.LabelRange;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The examples of cuDF's page on its internals, and what they leave open. */
class ColumnAccessorTest {
  private static final ColumnLabel X = ColumnLabel.of("x");
  private static final ColumnLabel Y = ColumnLabel.of("y");
  private static final ColumnLabel Z = ColumnLabel.of("z");
  private static final ColumnLabel A_B = ColumnLabel.of("a", "b");
  private static final ColumnLabel A_C = ColumnLabel.of("a", "c");
  private static final ColumnLabel D_B = ColumnLabel.of("d", "b");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private Table table;
  private ColumnAccessor accessor;

  @BeforeEach
  void makeColumns() {
    table =
        new TableBuilder()
            .column("x", DataType.INT64, 1, 2, 3)
            .column("y", DataType.STRING, "a", "b", "c")
            .column("z", DataType.INT64, 4, 5, 6)
            .build(device);
    accessor = table.accessor();
  }

  @AfterEach
  void closeColumns() {
    table.close();
  }

  private Column column(int index) {
    return table.column(index);
  }

  private ColumnAccessor multiLevel(ColumnLabel third) {
    ColumnAccessor multiLevel = new ColumnAccessor(2);
    multiLevel.put(A_B, column(0));
    multiLevel.put(A_C, column(1));
    multiLevel.put(third, column(2));
    return multiLevel;
  }

  private static void assertColumns(
      ColumnAccessor actual, int levels, List<ColumnLabel> labels, List<Column> columns) {
    assertThat(actual.labels()).isEqualTo(labels);
    assertThat(actual.columns()).isEqualTo(columns);
    assertThat(actual.levels()).isEqualTo(levels);
  }

  @Test
  void isAnOrderedMappingOfLabelsToColumns() {
    assertColumns(accessor, 1, List.of(X, Y, Z), table.columns());
    assertThat(accessor.levelNames()).containsExactly("");
    assertThat(accessor.get(X)).isSameAs(column(0));
    assertThat(accessor.get(Y)).isSameAs(column(1));
    assertThat(accessor.size()).isEqualTo(3);
    assertThat(accessor.contains(Z)).isTrue();
    assertThat(accessor.contains(ColumnLabel.of("q"))).isFalse();
    assertThat(accessor).hasToString("{x=BIGINT[3], y=STRING[3], z=BIGINT[3]} with levels []");
  }

  @Test
  void popRemovesAndGivesTheColumn() {
    assertThat(accessor.pop(X)).isSameAs(column(0));
    assertColumns(accessor, 1, List.of(Y, Z), List.of(column(1), column(2)));
  }

  @Test
  void insertsAtEveryLocation() {
    ColumnLabel label = ColumnLabel.of("new");
    for (int location = 0; location <= 3; location++) {
      ColumnAccessor changed = table.accessor();
      changed.insert(label, column(0), location);
      assertThat(changed.labels().indexOf(label)).isEqualTo(location);
      changed.pop(label);
      assertColumns(changed, 1, List.of(X, Y, Z), table.columns());
    }
  }

  @Test
  void insertRefusesABadLocationALabelInUseAndAnotherSize() {
    assertThatThrownBy(() -> accessor.insert(ColumnLabel.of("new"), column(0), 4))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> accessor.insert(ColumnLabel.of("new"), column(0), -1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> accessor.insert(X, column(1), 0))
        .withMessage("there is a column 'x' already");
    try (Column shorter = column(0).slice(0, 2)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> accessor.insert(ColumnLabel.of("new"), shorter, 0))
          .withMessage("column 'new' has 2 elements, the others have 3");
    }
    assertColumns(accessor, 1, List.of(X, Y, Z), table.columns());
  }

  @Test
  void putReplacesInPlaceAndAppends() {
    accessor.put(Y, column(0));
    accessor.put(ColumnLabel.of("w"), column(1));
    assertColumns(
        accessor,
        1,
        List.of(X, Y, Z, ColumnLabel.of("w")),
        List.of(column(0), column(0), column(2), column(1)));
  }

  @Test
  void selectsByIndexListAndSlice() {
    assertColumns(accessor.selectByIndex(1), 1, List.of(Y), List.of(column(1)));
    assertColumns(accessor.selectByIndex(0, 1), 1, List.of(X, Y), List.of(column(0), column(1)));
    assertColumns(accessor.selectByIndex(2, 0), 1, List.of(Z, X), List.of(column(2), column(0)));
    assertColumns(
        accessor.selectByIndex(new IndexRange(1, 3)),
        1,
        List.of(Y, Z),
        List.of(column(1), column(2)));
    assertColumns(accessor.selectByIndex(new IndexRange(3, 3)), 1, List.of(), List.of());
  }

  @Test
  void selectionByIndexRefusesWhatIsNotThere() {
    assertThatThrownBy(() -> accessor.selectByIndex(3))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> accessor.selectByIndex(new IndexRange(1, 4)))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> accessor.selectByIndex(0, 0))
        .withMessage("column 'x' is selected twice");
    assertThatIllegalArgumentException().isThrownBy(() -> new IndexRange(2, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new IndexRange(-1, 1));
  }

  @Test
  void selectsByLabelListAndSlice() {
    assertColumns(accessor.selectByLabel(Y), 1, List.of(Y), List.of(column(1)));
    assertColumns(
        accessor.selectByLabels(List.of(Z, Y)), 1, List.of(Z, Y), List.of(column(2), column(1)));
    assertColumns(
        accessor.selectByLabels(new LabelRange(X, Y)),
        1,
        List.of(X, Y),
        List.of(column(0), column(1)));
    assertColumns(accessor.selectByLabels(new LabelRange(Z, Z)), 1, List.of(Z), List.of(column(2)));
  }

  @Test
  void anUnknownLabelListsTheLabels() {
    ColumnLabel unknown = ColumnLabel.of("q");
    String message = "there is no column 'q'; the columns are [x, y, z]";
    assertThatIllegalArgumentException()
        .isThrownBy(() -> accessor.get(unknown))
        .withMessage(message);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> accessor.pop(unknown))
        .withMessage(message);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> accessor.selectByLabel(unknown))
        .withMessage(message);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> accessor.selectByLabels(List.of(X, unknown)))
        .withMessage(message);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> accessor.selectByLabels(new LabelRange(X, unknown)))
        .withMessage(message);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> accessor.selectByPattern(LabelPattern.of("q")))
        .withMessage("there is no column '(q)'; the columns are [x, y, z]");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> accessor.selectByLabels(new LabelRange(Y, X)))
        .withMessage("'x' is before 'y' in [x, y, z]");
  }

  @Test
  void aPrefixSelectsTheLabelsUnderItAndDropsItsLevel() {
    assertColumns(
        multiLevel(ColumnLabel.of("b")).selectByLabel(ColumnLabel.of("a")),
        1,
        List.of(ColumnLabel.of("b"), ColumnLabel.of("c")),
        List.of(column(0), column(1)));
  }

  @Test
  void aWholeLabelSelectsItsColumnAndStaysWhole() {
    ColumnAccessor multiLevel = multiLevel(ColumnLabel.of("b"));
    assertColumns(multiLevel.selectByLabel(A_B), 2, List.of(A_B), List.of(column(0)));
    assertColumns(
        multiLevel.selectByLabel(ColumnLabel.of("b")),
        2,
        List.of(ColumnLabel.of("b")),
        List.of(column(2)));
  }

  @Test
  void aWildcardMatchesEveryNameOfItsLevel() {
    ColumnAccessor multiLevel = multiLevel(D_B);
    assertColumns(
        multiLevel.selectByPattern(LabelPattern.of(LabelPattern.ANY, "b")),
        2,
        List.of(A_B, D_B),
        List.of(column(0), column(2)));
    assertColumns(
        multiLevel.selectByPattern(LabelPattern.of("a")),
        2,
        List.of(A_B, A_C),
        List.of(column(0), column(1)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> multiLevel.selectByPattern(LabelPattern.of("*", "q")))
        .withMessage("there is no column '(*, q)'; the columns are [(a, b), (a, c), (d, b)]");
  }

  @Test
  void aWildcardMatchesLevelsThatALabelDoesNotHaveAsEmptyNames() {
    ColumnAccessor multiLevel = multiLevel(ColumnLabel.of("b"));
    assertThat(multiLevel.selectByPattern(LabelPattern.of("*", "*")).labels()).hasSize(3);
    assertThat(multiLevel.selectByPattern(LabelPattern.of("*", "")).labels())
        .containsExactly(ColumnLabel.of("b"));
  }

  @Test
  void listsAndSlicesOfPrefixesKeepWholeLabels() {
    ColumnAccessor multiLevel = multiLevel(D_B);
    assertThat(
            multiLevel.selectByLabels(List.of(ColumnLabel.of("d"), ColumnLabel.of("a"))).labels())
        .containsExactly(D_B, A_B, A_C);
    assertThat(
            multiLevel
                .selectByLabels(new LabelRange(ColumnLabel.of("a"), ColumnLabel.of("a")))
                .labels())
        .containsExactly(A_B, A_C);
    assertThat(multiLevel.selectByLabels(new LabelRange(A_C, ColumnLabel.of("d"))).labels())
        .containsExactly(A_C, D_B);
  }

  @Test
  void aLabelThatIsAlsoAPrefixIsSelectedAlone() {
    ColumnAccessor multiLevel = multiLevel(ColumnLabel.of("a"));
    assertThat(multiLevel.selectByLabel(ColumnLabel.of("a")).columns()).containsExactly(column(2));
    assertThat(multiLevel.selectByIndex(2, 0).labels()).containsExactly(ColumnLabel.of("a"), A_B);
    assertThat(multiLevel.selectByPattern(LabelPattern.of("a", "")).columns())
        .containsExactly(column(2));
  }

  @Test
  void convertsToItsLabelsWithTheNamesOfTheLevels() {
    ColumnAccessor named = new ColumnAccessor(List.of("outer", "inner"));
    named.put(A_B, column(0));
    named.put(A_C, column(1));
    named.put(D_B, column(2));
    assertThat(named.toIndex())
        .isEqualTo(new LabelIndex(List.of(A_B, A_C, D_B), List.of("outer", "inner")));
    assertThat(named.selectByLabel(ColumnLabel.of("a")).levelNames()).containsExactly("inner");
    assertThat(named.selectByLabel(A_B).levelNames()).containsExactly("outer", "inner");
    assertThat(named.selectByPattern(LabelPattern.of("*", "b")).levelNames())
        .containsExactly("outer", "inner");
  }

  @Test
  void aLabelHasAtMostTheAccessorsLevels() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> accessor.put(A_B, column(0)))
        .withMessage("label '(a, b)' has more levels than the accessor, which has 1");
    assertThatIllegalArgumentException().isThrownBy(() -> new ColumnAccessor(0));
    assertThatIllegalArgumentException().isThrownBy(() -> ColumnLabel.of());
  }
}
