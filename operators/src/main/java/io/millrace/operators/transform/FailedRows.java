// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.vector.BatchContext;
import io.millrace.kernel.gather.Gather;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Separates the rows for which a {@link TableTransform} fails. Only used after a whole table has
 * failed: it finds the rows by transforming slices, which are short near failing rows.
 */
@PublicEvolving
public final class FailedRows implements AutoCloseable {
  /** The column with the reason for the failure. */
  public static final String REASON = "__reason";

  private static final Schema REASONS = Schema.of(new Field(REASON, DataType.STRING, false));
  private static final int SHORTEST_SLICE = 64;

  private final TableTransform transform;
  private final DeviceContext context;
  private final HostTransfer transfer;

  FailedRows(TableTransform transform, DeviceContext context) {
    this.transform = transform;
    this.context = context;
    this.transfer = new HostTransfer(context);
  }

  /** The columns of failed rows: the columns of {@code input} and the reason. */
  public static Schema schema(Schema input) {
    return new Schema(Stream.concat(input.fields().stream(), REASONS.fields().stream()).toList());
  }

  /**
   * The result of a table.
   *
   * @param transformed the results of the rows that do not fail
   * @param failed the input rows that fail, with the reason
   */
  record Separated(Table transformed, Table failed) {}

  /** Makes one attempt; the caller closes both tables. */
  Separated separate(Table input, BatchContext batch) {
    List<EvaluationException> failures = find(input, batch);
    int[] failed = failures.stream().mapToInt(EvaluationException::row).toArray();
    try (Table rest = gather(input, others(failed, input.rowCount()));
        Table rows = gather(input, failed);
        Table reasons = reasons(failures);
        Table failedRows = join(rows, reasons)) {
      return new Separated(transform.apply(rest, batch), failedRows.share());
    }
  }

  /** The failures of all rows that fail, in order, each with its row in {@code input}. */
  private List<EvaluationException> find(Table input, BatchContext batch) {
    List<EvaluationException> failures = new ArrayList<>();
    int rows = input.rowCount();
    int start = 0;
    int length = SHORTEST_SLICE;
    while (start < rows) {
      int sliced = Math.min(length, rows - start);
      try (Table slice = input.slice(start, sliced)) {
        transform.apply(slice, batch.behind(start)).close();
        start += sliced;
        length = (int) Math.min(2L * length, rows);
      } catch (EvaluationException e) {
        failures.add(e.behind(start));
        start += e.row() + 1;
        length = SHORTEST_SLICE;
      }
    }
    return failures;
  }

  private static int[] others(int[] failed, int rowCount) {
    int[] others = new int[rowCount - failed.length];
    int next = 0;
    for (int row = 0; row < rowCount; row++) {
      boolean fails = row - next < failed.length && failed[row - next] == row;
      if (!fails) {
        others[next++] = row;
      }
    }
    return others;
  }

  private Table gather(Table input, int[] rows) {
    try (Table map = RowMap.upload(transfer, rows)) {
      return Gather.gather(input, map.column(0), context.stream(), context.resource());
    }
  }

  private Table reasons(List<EvaluationException> failures) {
    try (RowTableBuilder builder = transfer.tableBuilder(REASONS)) {
      VariableWidthColumnBuilder column = (VariableWidthColumnBuilder) builder.column(0);
      for (EvaluationException failure : failures) {
        column.appendBytes(failure.reason().getBytes(StandardCharsets.UTF_8));
      }
      return transfer.upload(builder.finish(failures.size()));
    }
  }

  // Event times stay behind the columns of the stream.
  private static Table join(Table rows, Table reasons) {
    List<Column> columns = new ArrayList<>(rows.columns());
    boolean hasTimes = EventTimeColumn.isIn(rows.schema());
    columns.addAll(hasTimes ? columns.size() - 1 : columns.size(), reasons.columns());
    Schema joined =
        hasTimes
            ? EventTimeColumn.addTo(schema(EventTimeColumn.removeFrom(rows.schema())))
            : schema(rows.schema());
    return new Table(joined, columns.stream().map(Column::share).toList(), rows.rowCount());
  }

  @Override
  public void close() {
    transfer.close();
  }
}
