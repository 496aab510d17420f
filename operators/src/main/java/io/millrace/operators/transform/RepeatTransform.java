// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.vector.BatchContext;
import io.millrace.kernel.gather.Gather;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * Gives each row several times, one behind the other, with the number of the copy from 0 in a
 * column in front of the others. The host computes which rows come out, and the device, which is
 * waited for, moves them.
 */
@Internal
public final class RepeatTransform implements TableTransform {
  /** The most rows of a result, 256 MiB of positions: larger tables are split. */
  private static final int MAX_ROWS = 1 << 25;

  private static final Schema POSITIONS =
      Schema.of(
          new Field("row", DataType.INT32, false), new Field("number", DataType.INT32, false));

  private final int times;
  private final Field number;
  private final int maxRows;
  private final DeviceContext context;
  private final HostTransfer transfer;

  private RepeatTransform(int times, Field number, int maxRows, DeviceContext context) {
    this.times = times;
    this.number = number;
    this.maxRows = maxRows;
    this.context = context;
    this.transfer = new HostTransfer(context);
  }

  /**
   * A factory of transforms to tables of {@link #outputSchema}.
   *
   * @param times how often each row is given, at least once
   * @param column the name of the column with the numbers
   * @throws IllegalArgumentException if {@code times} is not positive
   */
  public static Factory factory(int times, String column) {
    return factory(times, column, MAX_ROWS);
  }

  /**
   * As {@link #factory(int, String)}.
   *
   * @param maxRows the most rows of a result of several rows: more make the operator split a table
   */
  static Factory factory(int times, String column, int maxRows) {
    if (times <= 0) {
      throw new IllegalArgumentException("expected a positive number of copies, got " + times);
    }
    return context -> new RepeatTransform(times, field(column), maxRows, context);
  }

  /**
   * The columns of the result: the number of the copy, an INT without nulls, then those of {@code
   * input}.
   *
   * @param column the name of the column with the numbers
   * @throws ExpressionException if {@code input} has a column of this name
   */
  public static Schema outputSchema(Schema input, String column) {
    if (input.names().contains(column)) {
      throw new ExpressionException("two columns are called '" + column + "'");
    }
    return withNumber(field(column), input);
  }

  private static Field field(String column) {
    return new Field(column, DataType.INT32, false);
  }

  private static Schema withNumber(Field number, Schema schema) {
    List<Field> fields = new ArrayList<>(List.of(number));
    fields.addAll(schema.fields());
    return new Schema(fields);
  }

  @Override
  public Table apply(Table input, BatchContext batch) {
    try (Table positions = positions(input.rowCount());
        Table repeated =
            Gather.gatherRepeated(
                input, positions.column(0), context.stream(), context.resource())) {
      List<Column> columns = new ArrayList<>(List.of(positions.column(1).share()));
      repeated.columns().forEach(column -> columns.add(column.share()));
      return new Table(withNumber(number, input.schema()), columns, repeated.rowCount());
    }
  }

  private Table positions(int rows) {
    long count = (long) rows * times;
    if (rows > 1 && count > maxRows) {
      throw new GpuOutOfMemoryException(
          "expected at most " + maxRows + " rows of a table, got " + count);
    }
    try (RowTableBuilder builder = transfer.tableBuilder(POSITIONS)) {
      FixedWidthColumnBuilder row = (FixedWidthColumnBuilder) builder.column(0);
      FixedWidthColumnBuilder copy = (FixedWidthColumnBuilder) builder.column(1);
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < times; j++) {
          row.appendInt(i);
          copy.appendInt(j);
        }
      }
      return transfer.upload(builder.finish((int) count));
    }
  }

  @Override
  public void close() {
    transfer.close();
  }
}
