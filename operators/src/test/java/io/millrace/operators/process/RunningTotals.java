// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.Schema;
import io.millrace.column.VariableWidthColumnBuilder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps for each key {@code k} the sum of {@code n} and the last {@code s}, which may be null, and
 * emits them for each row. A row with a zero forgets the key, and emits nothing.
 */
final class RunningTotals extends HostKeyedFunction {
  private static final long serialVersionUID = 1L;

  static final Schema ROWS =
      Schema.of(
          Field.of("k", DataType.STRING),
          new Field("n", DataType.INT32, false),
          Field.of("s", DataType.STRING));

  @Override
  public Schema outputSchema(Schema input) {
    return Schema.of(
        Field.of("k", DataType.STRING),
        new Field("total", DataType.INT64, false),
        Field.of("text", DataType.STRING));
  }

  @Override
  public Schema stateSchema(Schema input) {
    return Schema.of(Field.of("total", DataType.INT64), Field.of("text", DataType.STRING));
  }

  @Override
  protected void process(HostKeyedBatch batch) {
    ColumnReader totals = batch.state("total");
    ColumnReader texts = batch.state("text");
    Long[] total = new Long[batch.keyCount()];
    byte[][] text = new byte[batch.keyCount()][];
    for (int key = 0; key < batch.keyCount(); key++) {
      total[key] = totals.isNull(key) ? null : totals.getLong(key);
      text[key] = bytes(texts, key);
    }
    ColumnReader numbers = batch.column("n");
    ColumnReader strings = batch.column("s");
    for (int row = 0; row < batch.rowCount(); row++) {
      int key = batch.keyOf(row);
      int number = numbers.getInt(row);
      if (number == 0) {
        total[key] = null;
        text[key] = null;
        continue;
      }
      total[key] = (total[key] == null ? 0 : total[key]) + number;
      text[key] = bytes(strings, row);
      append(batch.output().column(0), bytes(batch.key("k"), key));
      append(batch.output().column(1), total[key]);
      append(batch.output().column(2), text[key]);
    }
    for (int key = 0; key < batch.keyCount(); key++) {
      append(batch.newState().column(0), total[key]);
      append(batch.newState().column(1), text[key]);
    }
  }

  private static byte[] bytes(ColumnReader strings, int row) {
    return strings.isNull(row) ? null : strings.getBytes(row);
  }

  private static void append(ColumnBuilder column, byte[] value) {
    if (value == null) {
      column.appendNull();
    } else {
      ((VariableWidthColumnBuilder) column).appendBytes(value);
    }
  }

  private static void append(ColumnBuilder column, Long value) {
    if (value == null) {
      column.appendNull();
    } else {
      ((FixedWidthColumnBuilder) column).appendLong(value);
    }
  }

  /** A simple program that says what is emitted for a row; null for nothing. */
  static final class Model {
    private final Map<Object, Long> totals;

    Model() {
      this(new HashMap<>());
    }

    private Model(Map<Object, Long> totals) {
      this.totals = totals;
    }

    List<Object> process(List<Object> row) {
      int number = (Integer) row.get(1);
      if (number == 0) {
        totals.remove(row.get(0));
        return null;
      }
      long total = totals.merge(row.get(0), (long) number, Long::sum);
      return Arrays.asList(row.get(0), total, row.get(2));
    }

    Model copy() {
      return new Model(new HashMap<>(totals));
    }
  }
}
