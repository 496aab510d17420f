// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.function;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.catalog.DataTypeFactory;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.inference.StateTypeStrategy;
import org.apache.flink.table.types.inference.StaticArgument;
import org.apache.flink.table.types.inference.StaticArgumentTrait;
import org.apache.flink.table.types.inference.TypeInference;
import org.apache.flink.table.types.inference.TypeStrategies;
import org.apache.flink.types.Row;

/**
 * Expressions of Millrace over the rows of a table as a function of Flink SQL that computes
 * micro-batches on the device, in plans whose nodes are all Flink's. As {@link
 * MicroBatchScalarFunction}, but with a row of results, and with rows that wait in Flink's state.
 *
 * <pre>{@code
 * public final class Labels extends MicroBatchTableFunction {
 *   public Labels() {
 *     super("channel STRING, price BIGINT, date_time TIMESTAMP(3)", "UPPER(channel) AS label, price");
 *   }
 * }
 * }</pre>
 *
 * <pre>{@code
 * SELECT * FROM labels(r => TABLE bids, on_time => DESCRIPTOR(date_time))
 * }</pre>
 *
 * <p>Rows wait for the next watermark, or until there are {@value #MAX_ROWS}, and then leave in
 * their order. So the table needs a time attribute with watermarks; the last rows leave at the end
 * of the input. The time attribute of the results is that of the timer or of the row that made them
 * leave. Late rows are treated as Flink treats them for such functions. Only insertions are taken.
 *
 * <p>Rows of a partition wait for each other, so {@code PARTITION BY} is to have few and large
 * partitions; without it one subtask computes all. A row that fails fails the job.
 */
@PublicEvolving
public abstract class MicroBatchTableFunction extends ProcessTableFunction<Row> {
  private static final long serialVersionUID = 1L;
  private static final int MAX_ROWS = 8_192;
  private static final String TIMER = "batch";
  private static final int COUNT = 0;
  private static final int TIME = 1;

  private final String columns;
  private final String expressions;
  private transient MicroBatchCalc calc;

  /**
   * @param columns the names and types of the table's columns in their order, as in {@code CREATE
   *     TABLE}; Flink passes columns by position, under any names
   * @param expressions as behind SELECT, in Millrace's SQL
   */
  protected MicroBatchTableFunction(String columns, String expressions) {
    this.columns = columns;
    this.expressions = expressions;
  }

  @Override
  public final void open(FunctionContext context) {
    calc = new MicroBatchCalc(MicroBatchExpressions.parse(columns, expressions));
  }

  @Override
  public final void close() {
    if (calc != null) {
      calc.close();
    }
  }

  /**
   * Called by Flink: takes a row.
   *
   * @param batch how many rows wait and the time of their timer, nulls for none
   * @param waiting these rows
   */
  public final void eval(Context context, Row batch, ListView<Row> waiting, Row row)
      throws Exception {
    waiting.add(row);
    int rows = batch.getField(COUNT) == null ? 1 : 1 + (int) batch.getField(COUNT);
    TimeContext<Long> time = context.timeContext(Long.class);
    if (rows == MAX_ROWS) {
      time.clearTimer(TIMER);
      send(batch, waiting);
      return;
    }
    batch.setField(COUNT, rows);
    Long timer = (Long) batch.getField(TIME);
    long next = timeOfTimer(time);
    if (timer == null || next < timer) {
      time.registerOnTime(TIMER, next);
      batch.setField(TIME, next);
    }
  }

  // The next watermark passes it, also if the row is far in the future.
  private static long timeOfTimer(TimeContext<Long> time) {
    Long watermark = time.currentWatermark();
    return watermark == null ? time.time() : Math.min(time.time(), watermark + 1);
  }

  /** Called by Flink: there is a watermark behind the first row that waits. */
  public final void onTimer(OnTimerContext context, Row batch, ListView<Row> waiting)
      throws Exception {
    send(batch, waiting);
  }

  private void send(Row batch, ListView<Row> waiting) throws Exception {
    List<Row> rows = new ArrayList<>();
    waiting.get().forEach(rows::add);
    calc.evaluate(rows).forEach(this::collect);
    waiting.clear();
    batch.setField(COUNT, null);
    batch.setField(TIME, null);
  }

  /**
   * {@inheritDoc}
   *
   * @throws io.millrace.operators.sql.SqlTextException if the columns or the expressions are
   *     malformed
   * @throws IllegalArgumentException if an expression depends on more than its row, such as the
   *     current time
   */
  @Override
  public final TypeInference getTypeInference(DataTypeFactory typeFactory) {
    MicroBatchExpressions parsed = MicroBatchExpressions.parse(columns, expressions);
    DataType row = MicroBatchExpressions.rowType(parsed.columns());
    LinkedHashMap<String, StateTypeStrategy> state = new LinkedHashMap<>();
    state.put(
        "batch",
        StateTypeStrategy.of(
            TypeStrategies.explicit(
                DataTypes.ROW(
                    DataTypes.FIELD("rows", DataTypes.INT()),
                    DataTypes.FIELD("timer", DataTypes.BIGINT())))));
    state.put(
        "waiting",
        StateTypeStrategy.of(TypeStrategies.explicit(ListView.newListViewDataType(row))));
    return TypeInference.newBuilder()
        .staticArguments(
            StaticArgument.table(
                "r",
                row,
                false,
                EnumSet.of(
                    StaticArgumentTrait.SET_SEMANTIC_TABLE,
                    StaticArgumentTrait.OPTIONAL_PARTITION_BY,
                    StaticArgumentTrait.REQUIRE_ON_TIME)))
        .stateTypeStrategies(state)
        .outputTypeStrategy(
            TypeStrategies.explicit(MicroBatchExpressions.rowType(parsed.results())))
        .build();
  }
}
