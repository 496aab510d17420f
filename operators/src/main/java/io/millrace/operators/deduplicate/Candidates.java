// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.kernel.concatenate.Concatenate;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.operators.deduplicate.Deduplication.Keep;
import io.millrace.operators.state.ChangePairs;
import io.millrace.operators.transfer.NumberColumn;
import io.millrace.state.StateTable;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Finds the positions of kept rows if a column orders the rows. A batch is grouped by key and value
 * of that column, together with a mark for the value of each key in the state: a group with rows
 * and a mark has the kept row of its key. The mark is the kind of the change, and the least of the
 * marks of a group counts: a value of before the update hides an equal value behind it, since
 * {@link Keep#FIRST} keeps the row of before.
 */
final class Candidates implements AutoCloseable {
  static final String MARK = "$mark";

  /** A group without a mark. */
  static final byte NO_MARK = Byte.MAX_VALUE;

  static final String POSITION = "$position";

  private static final String ROW = "$row";

  private final StateSchema groups;
  private final Calc rows;
  private final Calc marks;

  /**
   * @param state of the kept rows: the input has the columns of the key and the column that orders
   *     the rows
   * @param value the name of the accumulator with that column's value
   * @throws IllegalArgumentException if the key and the value have more than 24 words
   */
  Candidates(StateSchema state, String value, Keep keep, ResolutionContext context) {
    Schema input = state.input();
    int order = input.size() - 1;
    List<Field> fields = new ArrayList<>(input.fields());
    fields.add(new Field(POSITION, DataType.INT32, false));
    Schema numbered = new Schema(fields);
    fields.add(new Field(MARK, DataType.INT8, false));
    groups =
        new StateSchema(
            new Schema(fields),
            IntStream.rangeClosed(0, order).boxed().toList(),
            List.of(
                new Accumulator(
                    "$kept_position", keep == Keep.FIRST ? Function.MIN : Function.MAX, order + 1),
                new Accumulator("$least_mark", Function.MIN, order + 2)),
            StateSchema.NO_KINDS);
    List<Expression> rowColumns = new ArrayList<>();
    numbered.names().forEach(name -> rowColumns.add(col(name)));
    rowColumns.add(lit(NO_MARK).cast(DataType.INT8).as(MARK));
    rows = Calc.of(numbered, Optional.empty(), rowColumns, context);
    List<Field> changeFields = new ArrayList<>(state.changes().fields());
    changeFields.add(new Field(ROW, DataType.INT32, false));
    List<Expression> markColumns = new ArrayList<>();
    input.fields().subList(0, order).forEach(field -> markColumns.add(col(field.name())));
    markColumns.add(col(value).as(input.field(order).name()));
    markColumns.add(lit(noPosition(keep)).as(POSITION));
    markColumns.add(col(StateSchema.KIND).as(MARK));
    // A last row is replaced by a row with the same value, which is no change of the state.
    Expression isMark =
        keep == Keep.FIRST
            ? col(StateSchema.KIND).ne((int) ChangeKind.NONE.value())
            : col(ROW).mod(2).eq(1);
    marks = Calc.of(new Schema(changeFields), Optional.of(isMark), markColumns, context);
  }

  private static int noPosition(Keep keep) {
    return keep == Keep.FIRST ? Integer.MAX_VALUE : -1;
  }

  /** The columns of the groups. */
  Schema schema() {
    return groups.changes();
  }

  /** Whether a row of {@link #schema} is the group of a kept row. */
  static Expression isKept(Keep keep) {
    return col("$least_mark")
        .ne((int) NO_MARK)
        .and(col("$least_mark").ne((int) ChangeKind.UPDATE_BEFORE.value()))
        .and(col("$kept_position").ne(noPosition(keep)))
        .and(col(StateSchema.KIND).eq((int) ChangeKind.INSERT.value()));
  }

  /** The position of the kept row of a group, a row of {@link #schema}. */
  static Expression position() {
    return col("$kept_position");
  }

  /** The kind of the kept row of a group, likewise. */
  static Expression kind() {
    return col("$least_mark")
        .eq((int) ChangeKind.INSERT.value())
        .then(lit((int) ChangeKind.INSERT.value()), lit((int) ChangeKind.UPDATE_AFTER.value()))
        .cast(DataType.INT8);
  }

  /**
   * The groups: makes one attempt.
   *
   * @param batch the key columns and the column that orders the rows
   * @param pairs the changes of all keys of {@code batch}, or of some of them
   * @return of {@link #schema}; the caller closes the table
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  Table groups(
      Table batch,
      ChangePairs pairs,
      NumberColumn positions,
      DeviceStream stream,
      MemoryResource memory) {
    try (Table numbered = positions.appendTo(batch, POSITION);
        Table candidates = rows.apply(numbered, stream, memory);
        Table changes = positions.appendTo(pairs.changes(), ROW);
        Table marked = marks.apply(changes, stream, memory);
        Table all =
            Concatenate.concatenate(groups.input(), List.of(candidates, marked), stream, memory);
        StateTable table = new StateTable(groups, stream, memory)) {
      return table.update(all);
    }
  }

  /** What the host must compute, and why; see {@link Calc#hostReasons}. */
  List<String> hostReasons() {
    return Stream.of(rows, marks).flatMap(calc -> calc.hostReasons().stream()).toList();
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(rows::close);
    failure.run(marks::close);
    failure.rethrow();
  }
}
