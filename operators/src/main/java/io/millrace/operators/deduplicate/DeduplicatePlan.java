// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.deduplicate.Deduplication.Keep;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateSchema;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.flink.annotation.Internal;

/**
 * De-duplication as two steps: a state table with a value of the kept row of each key, and a calc
 * that finds the rows of the batch that are kept. The value is that of the column which orders the
 * rows, and then {@link Candidates} stand between the two; or the arrival number, which is larger
 * than the numbers of all rows before it: the number of its batch times {@link #MAX_BATCH_ROWS},
 * plus its position in the batch. Immutable; serialized with the job.
 */
@Internal
public final class DeduplicatePlan implements Serializable {
  /** The rows of a batch at most. */
  static final int MAX_BATCH_ROWS = 1 << 24;

  private static final long serialVersionUID = 1L;
  private static final Field ARRIVAL = new Field("$arrival", DataType.INT64, false);
  private static final String FIRST_ARRIVAL = "$MIN(arrival)";
  private static final String LAST_ARRIVAL = "$MAX(arrival)";
  private static final String POSITION = "$position";

  private final Schema input;
  private final List<String> keys;
  private final Deduplication deduplication;
  private final StateTtl stateTtl;

  /**
   * The steps.
   *
   * @param candidates null if rows are ordered by their arrival
   * @param keptRows of the state's changes, or of candidates: the positions of kept rows in the
   *     batch, and their kinds if the result is a changelog
   */
  record Steps(StateSchema state, Candidates candidates, Calc keptRows) implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      if (candidates != null) {
        failure.run(candidates::close);
      }
      failure.run(keptRows::close);
      failure.rethrow();
    }
  }

  /**
   * @param input the columns of the batches
   * @param stateTtl how long a key stays behind the row that is kept of it
   * @throws ExpressionException if a key column is an ARRAY or a ROW, the input is a changelog, or
   *     the column that orders the rows does not exist, is a key, may be null or has a type that
   *     {@link Deduplication#by} does not have
   */
  public DeduplicatePlan(
      Schema input, List<String> keys, Deduplication deduplication, StateTtl stateTtl) {
    this.input = input;
    this.keys = List.copyOf(keys);
    this.deduplication = deduplication;
    this.stateTtl = stateTtl;
    if (RowKindColumn.isIn(input)) {
      throw new ExpressionException(
          "de-duplication of a changelog is not supported: expected a stream of insertions");
    }
    if (deduplication.isByColumn()) {
      checkOrder(deduplication.column());
    }
    steps().close();
  }

  private void checkOrder(String column) {
    if (!input.names().contains(column)) {
      throw new ExpressionException(
          "there is no column '"
              + column
              + "' to order by; the columns are "
              + String.join(", ", input.names()));
    }
    if (keys.contains(column)) {
      throw new ExpressionException(
          "expected a column other than the keys to order by, got '" + column + "'");
    }
    Field field = input.field(input.indexOf(column));
    if (!Accumulator.isOneWord(field.type()) || field.type().equals(DataType.BOOL)) {
      throw new ExpressionException(
          "expected a number of up to 18 digits, a date or a time of up to 6 digits to order by,"
              + " got '"
              + column
              + "' "
              + field.type());
    }
    if (field.nullable()) {
      throw new ExpressionException(
          "expected a NOT NULL column to order by, got '"
              + column
              + "' "
              + field.type()
              + ": replace its nulls, such as by COALESCE");
    }
  }

  /** The columns of the input, and the kind of each row if the result is a changelog. */
  public Schema outputSchema() {
    return isChangelog() ? RowKindColumn.addTo(input) : input;
  }

  /** Whether kept rows are replaced: by an update alone, without the row before. */
  public boolean isChangelog() {
    return deduplication.isChangelog();
  }

  StateTtl stateTtl() {
    return stateTtl;
  }

  List<String> keys() {
    return keys;
  }

  /** Whether arrival numbers order the rows, and no column of the input. */
  boolean isByArrival() {
    return !deduplication.isByColumn();
  }

  /** The columns of the input that the state is updated with. */
  List<String> updateColumns() {
    List<String> columns = new ArrayList<>(keys);
    if (deduplication.isByColumn()) {
      columns.add(deduplication.column());
    }
    return columns;
  }

  /**
   * What the state is updated with: {@link #updateColumns}, and the arrival numbers if they order
   * the rows.
   */
  Schema updateSchema() {
    List<Field> fields = new ArrayList<>(input.select(updateColumns()).fields());
    if (isByArrival()) {
      fields.add(ARRIVAL);
    }
    return new Schema(fields);
  }

  /** The column of the arrival numbers. */
  static Schema arrivals() {
    return Schema.of(ARRIVAL);
  }

  /** The schema of the state. */
  public StateSchema stateSchema() {
    try (Steps steps = steps()) {
      return steps.state();
    }
  }

  /** Resolves the steps; the caller closes them. */
  Steps steps() {
    return isByArrival() ? stepsByArrival() : stepsByColumn();
  }

  private Steps stepsByArrival() {
    boolean keepsFirst = deduplication.keep() == Keep.FIRST;
    String arrival = keepsFirst ? FIRST_ARRIVAL : LAST_ARRIVAL;
    StateSchema state = state(arrival);
    Expression kind = Expressions.col(StateSchema.KIND);
    Expression isKept = kind.eq((int) ChangeKind.INSERT.value());
    List<Expression> columns = new ArrayList<>();
    columns.add(Expressions.col(arrival).mod(MAX_BATCH_ROWS).cast(DataType.INT32).as(POSITION));
    if (isChangelog()) {
      isKept = isKept.or(kind.eq((int) ChangeKind.UPDATE_AFTER.value()));
      columns.add(kind.as(RowKindColumn.NAME));
    }
    return new Steps(state, null, keptRows(state.changes(), isKept, columns));
  }

  private Steps stepsByColumn() {
    Keep keep = deduplication.keep();
    String value = (keep == Keep.FIRST ? "$MIN(" : "$MAX(") + deduplication.column() + ")";
    StateSchema state = state(value);
    Candidates candidates =
        checked(() -> new Candidates(state, value, keep, ExpressionSettings.DEFAULT.context()));
    List<Expression> columns =
        List.of(Candidates.position().as(POSITION), Candidates.kind().as(RowKindColumn.NAME));
    return new Steps(
        state, candidates, keptRows(candidates.schema(), Candidates.isKept(keep), columns));
  }

  private static Calc keptRows(Schema input, Expression isKept, List<Expression> columns) {
    return Calc.of(input, Optional.of(isKept), columns, ExpressionSettings.DEFAULT.context());
  }

  // A first row by arrival is kept until the time is over, whatever rows come behind it.
  private Accumulator time() {
    return isChangelog() ? stateTtl.updateTime() : stateTtl.creationTime();
  }

  private StateSchema state(String value) {
    Function function = deduplication.keep() == Keep.FIRST ? Function.MIN : Function.MAX;
    Accumulator accumulator = new Accumulator(value, function, keys.size());
    List<Accumulator> accumulators =
        stateTtl.isNone() ? List.of(accumulator) : List.of(time(), accumulator);
    List<Integer> keyColumns = IntStream.range(0, keys.size()).boxed().toList();
    return checked(
        () -> new StateSchema(updateSchema(), keyColumns, accumulators, StateSchema.NO_KINDS));
  }

  private static <T> T checked(Supplier<T> constructor) {
    try {
      return constructor.get();
    } catch (IllegalArgumentException e) {
      throw new ExpressionException(e.getMessage());
    }
  }

  /**
   * Such as {@code Deduplicate(keep=[FirstRow], key=[a], order=[PROCTIME])}, or with {@code
   * order=[t ASC]}; with {@code stateTtl=[1 h]} behind it if keys do not stay for ever.
   */
  @Override
  public String toString() {
    return "Deduplicate("
        + deduplication
        + ", key=["
        + String.join(", ", keys)
        + "], order=["
        + deduplication.order()
        + "]"
        + stateTtl.text()
        + ")";
  }
}
