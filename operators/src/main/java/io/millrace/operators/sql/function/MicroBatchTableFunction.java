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
 * <p>Rows wait until the watermark passes the time of the first of them, or there are {@value
 * #MAX_ROWS}, and then leave in their order. So the table needs a time attribute with watermarks;
 * the last rows leave at the end of the input. The time attribute of the results is that of the
 * timer or of the row that made them leave. Late rows are treated as Flink treats them for such
 * functions. Only insertions are taken.
 *
 * <p>Rows of a partition wait for each other, so {@code PARTITION BY} is to have few and large
 * partitions; without it one subtask computes all. A row that fails fails the job.
 */
@PublicEvolving
public abstract class MicroBatchTableFunction extends ProcessTableFunction<Row> {
  private static final long serialVersionUID = 1L;
  private static final int MAX_ROWS = 8_192;
  private static final String TIMER = "batch";

  private final String columns;
  private final String expressions;
  private transient MicroBatchCalc calc;

  /**
   * @param columns the names and types of the table's columns, as in {@code CREATE TABLE}
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
   * @param count how many rows wait, null for none
   * @param waiting these rows
   */
  public final void eval(Context context, Row count, ListView<Row> waiting, Row row)
      throws Exception {
    waiting.add(row);
    int rows = count.getField(0) == null ? 1 : 1 + (int) count.getField(0);
    count.setField(0, rows);
    if (rows == 1) {
      TimeContext<Long> time = context.timeContext(Long.class);
      time.registerOnTime(TIMER, time.time());
    } else if (rows == MAX_ROWS) {
      context.timeContext(Long.class).clearTimer(TIMER);
      send(count, waiting);
    }
  }

  /** Called by Flink: the watermark has passed the time of the first row that waits. */
  public final void onTimer(OnTimerContext context, Row count, ListView<Row> waiting)
      throws Exception {
    send(count, waiting);
  }

  private void send(Row count, ListView<Row> waiting) throws Exception {
    List<Row> rows = new ArrayList<>();
    waiting.get().forEach(rows::add);
    calc.evaluate(rows).forEach(this::collect);
    waiting.clear();
    count.setField(0, null);
  }

  /**
   * {@inheritDoc}
   *
   * @throws io.millrace.operators.sql.SqlTextException if the columns or the expressions are
   *     malformed
   */
  @Override
  public final TypeInference getTypeInference(DataTypeFactory typeFactory) {
    MicroBatchExpressions parsed = MicroBatchExpressions.parse(columns, expressions);
    DataType row = MicroBatchExpressions.rowType(parsed.columns());
    LinkedHashMap<String, StateTypeStrategy> state = new LinkedHashMap<>();
    state.put(
        "count",
        StateTypeStrategy.of(
            TypeStrategies.explicit(DataTypes.ROW(DataTypes.FIELD("rows", DataTypes.INT())))));
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
