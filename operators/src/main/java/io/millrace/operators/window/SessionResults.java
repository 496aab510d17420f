// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.calc.Calc;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.slice.TimeSlices;
import io.millrace.memory.Buffer;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import io.millrace.state.row.RowRange;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Emits the results of sessions. The event time of a row is the last millisecond of its session.
 */
final class SessionResults {
  private static final int MAX_RESULT_ROWS = 1 << 16;
  private static final int WINDOW_COLUMNS = 3;

  private final Schema schema;
  private final Calc results;
  private final DeviceContext context;
  private final Output<StreamRecord<ColumnBatch>> output;

  /** Rows and the last event time of them. */
  private record Result(Table rows, long time) {}

  /**
   * @param schema of the results
   * @param results of a state table's values; stays the caller's
   */
  SessionResults(
      Schema schema,
      Calc results,
      DeviceContext context,
      Output<StreamRecord<ColumnBatch>> output) {
    this.schema = EventTimeColumn.addTo(schema);
    this.results = results;
    this.context = context;
    this.output = output;
  }

  /**
   * Emits the results of sessions, in their order.
   *
   * @param values gives the rows of some of them, which this closes; makes one attempt
   */
  void emit(long sessions, Function<RowRange, Table> values) {
    RowRange.forAll(
        sessions,
        MAX_RESULT_ROWS,
        rows -> {
          context.retry().withSplitAndRetry(rows, range -> result(values.apply(range)), this::emit);
          context.checkNotCanceled();
        });
  }

  private Result result(Table sessions) {
    try (Table values = sessions;
        Table rows = results.apply(values, context.stream(), context.resource())) {
      Column times = rows.column(rows.columnCount() - 1);
      long last = TimeSlices.range(times, context.stream(), context.resource()).last();
      return new Result(withEventTimes(rows), last);
    }
  }

  // The times of sessions are no nulls, but columns that a GPU computed may have masks.
  private Table withEventTimes(Table rows) {
    List<Column> columns = new ArrayList<>();
    int first = rows.columnCount() - WINDOW_COLUMNS;
    for (int i = 0; i < rows.columnCount(); i++) {
      Column column = rows.column(i);
      columns.add(i < first ? column.share() : withoutMask(column, column.type()));
    }
    columns.add(withoutMask(rows.column(rows.columnCount() - 1), DataType.INT64));
    return new Table(schema, columns, rows.rowCount());
  }

  private static Column withoutMask(Column times, DataType type) {
    Buffer data = times.data().orElseThrow().share();
    return new Column(type, times.size(), times.offset(), data, null, List.of());
  }

  private void emit(Result result) {
    ColumnBatch.emit(new StreamRecord<>(new ColumnBatch(result.rows()), result.time()), output);
  }
}
