// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.table;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.FluentExpression;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.flink.annotation.Internal;

/**
 * Which columns of a table a query reads: fields, also of ROWs. Immutable.
 *
 * @param declared the columns of the table
 * @param paths of the fields, in the order of the rows that the source gives: the position of a
 *     column, and then of a field in each ROW
 */
@Internal
public record ReadColumns(Schema declared, List<List<Integer>> paths) {
  public ReadColumns {
    paths = paths.stream().map(List::copyOf).toList();
  }

  /** All columns. */
  public static ReadColumns all(Schema declared) {
    return new ReadColumns(
        declared, IntStream.range(0, declared.size()).mapToObj(List::of).toList());
  }

  /** The first column alone, which is read where no column is, so that rows are counted. */
  public static Schema first(Schema columns) {
    return columns.select(columns.names().subList(0, 1));
  }

  /** The fields of a projection, as Flink's planner gives it. */
  public ReadColumns project(int[][] fields) {
    return new ReadColumns(
        declared, Arrays.stream(fields).map(path -> Arrays.stream(path).boxed().toList()).toList());
  }

  /** The columns from which fields are read, in the order of the table. */
  public Set<String> columns() {
    Set<String> names = new LinkedHashSet<>();
    IntStream.range(0, declared.size())
        .filter(i -> paths.stream().anyMatch(path -> path.get(0) == i))
        .forEach(i -> names.add(declared.field(i).name()));
    return names;
  }

  /**
   * The columns that have to be read, in the order of the table; a ROW has only the fields that are
   * read. At least one, so that rows are counted.
   *
   * @param whole columns that are read as a whole for another reason
   */
  public Schema pruned(Collection<String> whole) {
    List<List<Integer>> all = new ArrayList<>(paths);
    for (int i = 0; i < declared.size(); i++) {
      if (whole.contains(declared.field(i).name())) {
        all.add(List.of(i));
      }
    }
    return all.isEmpty() ? first(declared) : new Schema(pruned(declared.fields(), all));
  }

  private static List<Field> pruned(List<Field> fields, List<List<Integer>> paths) {
    List<Field> kept = new ArrayList<>();
    for (int i = 0; i < fields.size(); i++) {
      Field field = fields.get(i);
      int position = i;
      List<List<Integer>> inside =
          paths.stream()
              .filter(path -> path.get(0) == position)
              .map(path -> path.subList(1, path.size()))
              .toList();
      if (inside.stream().anyMatch(List::isEmpty)) {
        kept.add(field);
      } else if (!inside.isEmpty()) {
        Field[] children = pruned(field.type().fields(), inside).toArray(Field[]::new);
        kept.add(new Field(field.name(), DataType.struct(children), field.nullable()));
      }
    }
    return kept;
  }

  /** Whether a field may be null, as it or a ROW that it is in may be. */
  public boolean isNullable(int field) {
    List<Integer> path = paths.get(field);
    Field current = declared.field(path.get(0));
    boolean isNullable = current.nullable();
    for (int child : path.subList(1, path.size())) {
      current = current.type().fields().get(child);
      isNullable |= current.nullable();
    }
    return isNullable;
  }

  /** The fields as expressions over columns that were read, in the order of the rows. */
  public List<Expression> expressions() {
    return paths.stream().map(this::expression).toList();
  }

  private Expression expression(List<Integer> path) {
    Field field = declared.field(path.get(0));
    FluentExpression value = Expressions.col(field.name());
    for (int child : path.subList(1, path.size())) {
      field = field.type().fields().get(child);
      value = value.field(field.name());
    }
    return (Expression) value;
  }
}
