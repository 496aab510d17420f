// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import static org.apache.flink.util.TimeUtils.formatWithHighestUnit;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.deduplicate.Deduplication.Keep;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateSchema;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.flink.annotation.Internal;

/**
 * De-duplication as two steps: a state table with the arrival number of the kept row of each key,
 * and a calc that finds the rows of the batch that are kept. A row's arrival number is larger than
 * the numbers of all rows before it: the number of its batch times {@link #MAX_BATCH_ROWS}, plus
 * its position in the batch. Immutable; serialized with the job.
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
  private static final String CREATION_TIME = "$CREATION_TIME";
  private static final String UPDATE_TIME = "$UPDATE_TIME";

  private final Schema input;
  private final List<String> keys;
  private final Deduplication deduplication;
  private final Duration stateTtl;

  /**
   * The steps.
   *
   * @param keptRows of the state's changes: the positions of kept rows in the batch, and their
   *     kinds if the result is a changelog
   */
  record Steps(StateSchema state, Calc keptRows) implements AutoCloseable {
    @Override
    public void close() {
      keptRows.close();
    }
  }

  /**
   * @param input the columns of the batches
   * @param stateTtl how long a key stays behind the row that is kept of it; zero: for ever
   * @throws ExpressionException if a key column is an ARRAY or a ROW, or the input is a changelog
   */
  public DeduplicatePlan(
      Schema input, List<String> keys, Deduplication deduplication, Duration stateTtl) {
    this.input = input;
    this.keys = List.copyOf(keys);
    this.deduplication = deduplication;
    this.stateTtl = stateTtl;
    if (RowKindColumn.isIn(input)) {
      throw new ExpressionException(
          "de-duplication of a changelog is not supported: expected a stream of insertions");
    }
    steps().close();
  }

  /** The columns of the input, and for {@link Keep#LAST} the kind of each row. */
  public Schema outputSchema() {
    return isChangelog() ? RowKindColumn.addTo(input) : input;
  }

  /** Whether kept rows are replaced: by an update alone, without the row before. */
  public boolean isChangelog() {
    return deduplication.isChangelog();
  }

  Duration stateTtl() {
    return stateTtl;
  }

  List<String> keys() {
    return keys;
  }

  /** The key columns and the arrival numbers: what the state is updated with. */
  Schema numberedKeys() {
    List<Field> fields = new ArrayList<>();
    keys.forEach(key -> fields.add(input.field(input.indexOf(key))));
    fields.add(ARRIVAL);
    return new Schema(fields);
  }

  /** The column of the arrival numbers. */
  static Schema arrivals() {
    return Schema.of(ARRIVAL);
  }

  /** Resolves the steps; the caller closes them. */
  Steps steps() {
    boolean keepsFirst = deduplication.keep() == Keep.FIRST;
    String arrival = keepsFirst ? FIRST_ARRIVAL : LAST_ARRIVAL;
    Accumulator accumulator =
        new Accumulator(arrival, keepsFirst ? Function.MIN : Function.MAX, keys.size());
    StateSchema state = state(accumulator);
    Expression kind = Expressions.col(StateSchema.KIND);
    Expression isKept = kind.eq((int) ChangeKind.INSERT.value());
    List<Expression> columns = new ArrayList<>();
    columns.add(Expressions.col(arrival).mod(MAX_BATCH_ROWS).cast(DataType.INT32).as(POSITION));
    if (isChangelog()) {
      isKept = isKept.or(kind.eq((int) ChangeKind.UPDATE_AFTER.value()));
      columns.add(kind.as(RowKindColumn.NAME));
    }
    return new Steps(
        state,
        Calc.of(
            state.changes(), Optional.of(isKept), columns, ExpressionSettings.DEFAULT.context()));
  }

  // A first row is kept until the time is over, whatever rows come behind it.
  private Accumulator time() {
    return deduplication.keep() == Keep.FIRST
        ? Accumulator.creationTime(CREATION_TIME)
        : Accumulator.updateTime(UPDATE_TIME);
  }

  private StateSchema state(Accumulator accumulator) {
    List<Accumulator> accumulators =
        stateTtl.isZero() ? List.of(accumulator) : List.of(time(), accumulator);
    List<Integer> keyColumns = IntStream.range(0, keys.size()).boxed().toList();
    try {
      return new StateSchema(numberedKeys(), keyColumns, accumulators, StateSchema.NO_KINDS);
    } catch (IllegalArgumentException e) {
      throw new ExpressionException(e.getMessage());
    }
  }

  /**
   * Such as {@code Deduplicate(keep=[FirstRow], key=[a], order=[PROCTIME])}; with {@code
   * stateTtl=[1 h]} behind it if keys do not stay for ever.
   */
  @Override
  public String toString() {
    return "Deduplicate("
        + deduplication
        + ", key=["
        + String.join(", ", keys)
        + "], order=[PROCTIME"
        + (stateTtl.isZero() ? "])" : "], stateTtl=[" + formatWithHighestUnit(stateTtl) + "])");
  }
}
