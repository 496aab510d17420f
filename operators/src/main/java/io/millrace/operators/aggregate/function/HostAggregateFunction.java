// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate.function;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.ExternalRowAppender;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.transfer.HostTransfer;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/**
 * A {@link BatchAggregateFunction} in Java, which is called for each row, as Flink's {@code
 * AggregateFunction} is. On a GPU, the arguments and the accumulators of their keys are copied to
 * the host, and the new accumulators and the results are copied back.
 *
 * <p>Rows have the Java types of Flink's Table API, such as {@code LocalDateTime}, and are read and
 * written by position. A function that overrides {@link #open} or {@link #close} calls that of this
 * class too. Other tasks of the GPU may wait while rows are added: a function should be quick, and
 * not wait itself.
 *
 * <pre>{@code
 * public Schema accumulatorSchema(Schema arguments) {
 *   return Schema.of(Field.of("logs", DataType.FLOAT64), Field.of("values", DataType.INT64));
 * }
 *
 * public DataType resultType(Schema arguments) {
 *   return DataType.FLOAT64;
 * }
 *
 * protected Row createAccumulator() {
 *   return Row.of(0.0, 0L);
 * }
 *
 * protected void accumulate(Row accumulator, Row arguments) {
 *   Double value = arguments.getFieldAs(0);
 *   if (value != null) {
 *     accumulator.setField(0, accumulator.<Double>getFieldAs(0) + Math.log(value));
 *     accumulator.setField(1, accumulator.<Long>getFieldAs(1) + 1);
 *   }
 * }
 *
 * protected Object getValue(Row accumulator) {
 *   long values = accumulator.<Long>getFieldAs(1);
 *   return values == 0 ? null : Math.exp(accumulator.<Double>getFieldAs(0) / values);
 * }
 * }</pre>
 */
@PublicEvolving
public abstract class HostAggregateFunction implements BatchAggregateFunction {
  private static final long serialVersionUID = 1L;

  // null before the function is opened.
  private transient HostTransfer transfer;
  private transient Schema accumulators;
  private transient Schema result;
  private transient List<String> argumentNames;
  private transient ExternalRowDecoder argumentRows;
  private transient ExternalRowDecoder accumulatorRows;

  /**
   * The accumulator of a key without rows, which {@link #accumulate} changes: all null unless a
   * function says otherwise. An accumulator that is null in all columns is taken for that of a key
   * without rows.
   *
   * @return a new object in each call
   */
  protected Row createAccumulator() {
    return new Row(accumulators.size());
  }

  /**
   * Adds a row to the accumulator of its key.
   *
   * @param accumulator changes in place; the columns keep its values: a decimal has the scale of
   *     its column behind the batch. The job fails if a decimal has more digits than its column
   * @param arguments the values of the row, which may be null
   */
  protected abstract void accumulate(Row accumulator, Row arguments) throws Exception;

  /**
   * Takes a row back from the accumulator of its key; only if {@link #supportsRetraction}. A key
   * all of whose rows were taken back begins again.
   */
  protected void retract(Row accumulator, Row arguments) throws Exception {
    throw new UnsupportedOperationException("retract is not implemented by " + name());
  }

  /**
   * The result of an accumulator, which may be null; a decimal that does not fit is null. Also
   * called for keys whose rows were all left out by a filter or taken back.
   *
   * @param accumulator must not change
   */
  protected abstract Object getValue(Row accumulator) throws Exception;

  @Override
  public void open(Schema arguments, DeviceContext device, RuntimeContext runtime)
      throws Exception {
    transfer = new HostTransfer(device);
    accumulators = accumulatorSchema(arguments);
    result = Schema.of(Field.of("result", resultType(arguments)));
    argumentNames = arguments.names();
    argumentRows = new ExternalRowDecoder(arguments);
    accumulatorRows = new ExternalRowDecoder(accumulators);
  }

  @Override
  public final AggregateResult aggregate(AggregateBatch batch) throws Exception {
    Schema numbers = Schema.of(new Field("number", DataType.INT32, false));
    try (Table device =
            Table.of(numbers, batch.rows().rowCount(), i -> batch.keyNumbers().share());
        Table keyNumbers = transfer.toHost(device);
        Table arguments = transfer.toHost(batch.rows());
        Table before = transfer.toHost(batch.accumulators());
        RowTableBuilder after = transfer.tableBuilder(accumulators);
        RowTableBuilder results = transfer.tableBuilder(result)) {
      List<Row> keys;
      try (AccessScope scope = AccessScope.on(batch.device().hostStream())) {
        keys = accumulators(before, scope);
        aggregate(arguments, new ColumnReader(keyNumbers.column(0), scope), keys, scope);
      }
      append(keys, after, results);
      return upload(after, results, keys.size());
    }
  }

  private List<Row> accumulators(Table before, AccessScope scope) {
    RowDecoder<Row> decoder = accumulatorRows.decoder(before, scope);
    List<Row> keys = new ArrayList<>(before.rowCount());
    for (int key = 0; key < before.rowCount(); key++) {
      Row accumulator = decoder.decode(key);
      keys.add(isUnset(accumulator) ? createAccumulator() : accumulator);
    }
    return keys;
  }

  private static boolean isUnset(Row accumulator) {
    for (int i = 0; i < accumulator.getArity(); i++) {
      if (accumulator.getField(i) != null) {
        return false;
      }
    }
    return true;
  }

  private void aggregate(Table table, ColumnReader keyNumbers, List<Row> keys, AccessScope scope)
      throws Exception {
    boolean isChangelog = RowKindColumn.isIn(table.schema());
    try (Table columns = table.select(argumentNames)) {
      RowDecoder<Row> decoder = argumentRows.decoder(columns, scope);
      ColumnReader kinds =
          isChangelog ? new ColumnReader(table.column(RowKindColumn.NAME), scope) : null;
      for (int row = 0; row < table.rowCount(); row++) {
        Row accumulator = keys.get(keyNumbers.getInt(row));
        if (isChangelog && isTakenBack(RowKind.fromByteValue(kinds.getByte(row)))) {
          retract(accumulator, decoder.decode(row));
        } else {
          accumulate(accumulator, decoder.decode(row));
        }
      }
    }
  }

  private static boolean isTakenBack(RowKind kind) {
    return kind == RowKind.UPDATE_BEFORE || kind == RowKind.DELETE;
  }

  private void append(List<Row> keys, RowTableBuilder after, RowTableBuilder results)
      throws Exception {
    ExternalRowAppender newAccumulators = new ExternalRowAppender(after);
    ExternalRowAppender newResults = new ExternalRowAppender(results);
    for (Row accumulator : keys) {
      newResults.append(Row.of(getValue(accumulator)));
      checkDecimals(accumulator);
      newAccumulators.append(accumulator);
    }
  }

  // The column would have a null, which is another accumulator.
  private void checkDecimals(Row accumulator) {
    for (int i = 0; i < accumulators.size(); i++) {
      DataType type = accumulators.type(i);
      if (type.isDecimal()
          && accumulator.getField(i) instanceof BigDecimal value
          && DecimalData.fromBigDecimal(value, type.precision(), type.scale()) == null) {
        throw new ArithmeticException(
            "expected at most "
                + type.precision()
                + " digits for accumulator '"
                + accumulators.field(i).name()
                + "' "
                + type
                + " of "
                + name()
                + ", got "
                + value);
      }
    }
  }

  private AggregateResult upload(RowTableBuilder after, RowTableBuilder results, int keys) {
    Column column;
    try (Table table = transfer.upload(results.finish(keys))) {
      column = table.column(0).share();
    }
    try {
      return new AggregateResult(transfer.upload(after.finish(keys)), column);
    } catch (RuntimeException | Error e) {
      column.close();
      throw e;
    }
  }

  @Override
  public void close() throws Exception {
    if (transfer != null) {
      transfer.close();
    }
  }
}
