// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.scan;

import io.millrace.column.Column;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Table;
import io.millrace.connectors.files.InputException;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.transfer.NumberColumn;
import java.io.UncheckedIOException;
import java.util.stream.Stream;
import org.apache.flink.annotation.Internal;

/**
 * Appends {@link PartitionColumns} to the rows of files, in the memory of an operator's device.
 * Used by one thread.
 */
@Internal
public final class PartitionColumnAppender implements AutoCloseable {
  private final PartitionColumns columns;
  private final DeviceContext context;
  private final HostTransfer transfer;
  private final NumberColumn zeros;
  // The file whose values there are, as a table of one row; null before the first file.
  private String path;
  private Table values;

  /**
   * @param context of the operator; stays open as long as this
   */
  public PartitionColumnAppender(PartitionColumns columns, DeviceContext context) {
    this.columns = columns;
    this.context = context;
    this.transfer = new HostTransfer(context);
    this.zeros = new NumberColumn(transfer, 0, 0);
  }

  /**
   * Makes one attempt.
   *
   * @param rows of a file; stays the caller's
   * @param file their path
   * @return the caller's
   * @throws UncheckedIOException of an {@link InputException} if the path does not have the values
   */
  public Table append(Table rows, String file) {
    if (columns.isEmpty()) {
      return rows.share();
    }
    useValuesOf(file);
    try (Column map = zeros.column(rows.rowCount());
        Table repeated = Gather.gatherRepeated(values, map, context.stream(), context.resource())) {
      return new Table(
          columns.appendedTo(rows.schema()),
          Stream.concat(rows.columns().stream(), repeated.columns().stream())
              .map(Column::share)
              .toList(),
          rows.rowCount());
    }
  }

  private void useValuesOf(String file) {
    if (file.equals(path)) {
      return;
    }
    try (RowTableBuilder builder = transfer.tableBuilder(columns.schema())) {
      new RowDataAppender(builder).append(columns.values(file));
      Table uploaded = transfer.upload(builder.finish(1));
      closeValues();
      values = uploaded;
      path = file;
    } catch (InputException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void closeValues() {
    path = null;
    if (values != null) {
      Table closed = values;
      values = null;
      closed.close();
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(this::closeValues);
    failure.run(zeros::close);
    failure.run(transfer::close);
    failure.rethrow();
  }
}
