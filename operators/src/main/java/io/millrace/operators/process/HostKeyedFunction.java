// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * A {@link KeyedBatchFunction} in Java. On a GPU, the rows and the state of their keys are copied
 * to the host, and what the function appends is copied back.
 *
 * <pre>{@code
 * protected void process(HostKeyedBatch batch) {
 *   ColumnReader before = batch.state("bids");
 *   long[] bids = new long[batch.keyCount()];
 *   for (int key = 0; key < bids.length; key++) {
 *     bids[key] = before.isNull(key) ? 0 : before.getLong(key);
 *   }
 *   for (int row = 0; row < batch.rowCount(); row++) {
 *     bids[batch.keyOf(row)]++;
 *   }
 *   FixedWidthColumnBuilder after = (FixedWidthColumnBuilder) batch.newState().column(0);
 *   for (long count : bids) {
 *     after.appendLong(count);
 *   }
 * }
 * }</pre>
 */
@PublicEvolving
public abstract class HostKeyedFunction implements KeyedBatchFunction {
  private static final long serialVersionUID = 1L;

  // null before the function is opened.
  private transient HostTransfer transfer;
  private transient Schema output;
  private transient Schema state;
  private transient HostEntries.Rows entryRows;

  /**
   * Processes a batch; see {@link KeyedBatchFunction#process}: it may be called again with the same
   * rows.
   *
   * @param batch valid until this returns
   */
  protected abstract void process(HostKeyedBatch batch) throws Exception;

  /**
   * Processes timers that are due; see {@link KeyedBatchFunction#onTimer}.
   *
   * @param timers as rows, with the column {@link #TIMER}; valid until this returns
   */
  protected void onTimer(HostKeyedBatch timers, TimeDomain domain) throws Exception {
    throw new UnsupportedOperationException("onTimer is not implemented by " + this);
  }

  @Override
  public void open(Schema input, DeviceContext device, RuntimeContext runtime) throws Exception {
    transfer = new HostTransfer(device);
    output = outputSchema(input);
    state = stateSchema(input);
    entryRows = new HostEntries.Rows(EntrySchemas.of(this, input));
  }

  @Override
  public final KeyedResult process(KeyedBatch batch) throws Exception {
    return onHost(batch, this::process);
  }

  @Override
  public final KeyedResult onTimer(KeyedBatch timers, TimeDomain domain) throws Exception {
    return onHost(timers, batch -> onTimer(batch, domain));
  }

  private KeyedResult onHost(KeyedBatch batch, ThrowingConsumer<HostKeyedBatch, Exception> function)
      throws Exception {
    HostNumbers numbers = new HostNumbers(transfer);
    HostEntries entries = entryRows.of(batch, transfer);
    try (Table rows = transfer.toHost(batch.rows());
        Table hostNumbers = numbers.toHost(batch.keyNumbers());
        Table keys = transfer.toHost(batch.keys());
        Table values = transfer.toHost(batch.state());
        RowTableBuilder newRows = transfer.tableBuilder(output);
        RowTableBuilder newState = transfer.tableBuilder(state);
        RowTableBuilder timers = transfer.tableBuilder(KeyedResult.TIMERS)) {
      try (AccessScope scope = AccessScope.on(batch.device().hostStream())) {
        function.accept(
            new HostKeyedBatch(
                rows,
                hostNumbers.column(0),
                keys,
                values,
                newRows,
                newState,
                timers,
                entries,
                batch.watermark(),
                batch.processingTime(),
                scope));
      }
      return upload(newRows, newState, timers, entries);
    }
  }

  private KeyedResult upload(
      RowTableBuilder newRows,
      RowTableBuilder newState,
      RowTableBuilder timers,
      HostEntries entries) {
    List<Table> tables = new ArrayList<>();
    Map<String, Table> changes = new LinkedHashMap<>();
    try {
      tables.add(upload("output", newRows));
      tables.add(upload("newState", newState));
      tables.add(upload("timers", timers));
      entries.upload(changes);
      return new KeyedResult(tables.get(0), tables.get(1), tables.get(2), changes);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      tables.addAll(changes.values());
      tables.stream().filter(Objects::nonNull).forEach(table -> failure.run(table::close));
      throw e;
    }
  }

  // Null if no row was appended.
  private Table upload(String what, RowTableBuilder builder) {
    int rows = builder.columns().stream().mapToInt(ColumnBuilder::size).max().orElse(0);
    for (int i = 0; i < builder.schema().size(); i++) {
      int size = builder.column(i).size();
      if (size != rows) {
        throw new IllegalStateException(
            "expected "
                + rows
                + " values in column '"
                + builder.schema().field(i).name()
                + "' of "
                + what
                + ", as in another column, got "
                + size
                + " from "
                + this);
      }
    }
    return rows == 0 ? null : transfer.upload(builder.finish(rows));
  }

  @Override
  public void close() throws Exception {
    if (transfer != null) {
      transfer.close();
    }
  }
}
