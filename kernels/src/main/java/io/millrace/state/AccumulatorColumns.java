// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.state.StateInput.SumColumn;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.ResultLayout;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;

/** The columns of accumulators in a result: where they lie in its buffer. */
final class AccumulatorColumns implements StateValues.ResultColumns {
  private final Schema input;
  private final List<Accumulator> accumulators;
  private final boolean takesPartials;
  private final int keys;
  private final List<Place> places = new ArrayList<>();

  /**
   * Places in the buffer.
   *
   * @param mask of a column that may be null
   * @param tops of the words above the values of sums with three words
   */
  private record Place(long data, long mask, long tops) {}

  /**
   * @param capacity rows of the result at most
   * @param layout takes the columns
   */
  AccumulatorColumns(StateSchema schema, int capacity, ResultLayout layout) {
    this.input = schema.input();
    this.accumulators = schema.accumulators();
    this.takesPartials = schema.takesPartials();
    this.keys = schema.keys().size();
    for (Accumulator accumulator : accumulators) {
      long width = accumulator.type(input).id().byteWidth();
      places.add(
          new Place(
              layout.add(capacity * width),
              layout.add(accumulator.isNullable(input) ? Column.maskBytes(capacity) : 0),
              layout.add(hasTop(accumulator) ? (long) capacity * Long.BYTES : 0)));
    }
  }

  // Whether it is a sum of decimals with three words.
  private boolean hasTop(Accumulator accumulator) {
    return accumulator.isNullable(input) && accumulator.words(input) > 2;
  }

  /**
   * The words of the accumulators, read from a batch.
   *
   * @param time of all rows, if there is an accumulator for it
   * @param output address of the buffer of the result
   */
  List<AccumulatorValue> valuesOf(Table batch, long time, long output, AccessScope scope) {
    List<AccumulatorValue> values = new ArrayList<>();
    int partials = keys;
    for (int i = 0; i < accumulators.size(); i++) {
      int column = accumulators.get(i).column();
      if (accumulators.get(i).isTime()) {
        values.add(constant(accumulators.get(i), time, output + places.get(i).data));
      } else if (takesPartials) {
        int firstWord = values.size();
        addWords(i, null, output, null, values);
        for (AccumulatorValue word : values.subList(firstWord, values.size())) {
          long data = batch.column(partials++).dataAddress(scope);
          values.set(firstWord++, word.ofState(data, Long.BYTES));
        }
      } else {
        boolean countsAllRows = column == Accumulator.ALL_ROWS;
        addWords(i, countsAllRows ? null : batch.column(column), output, scope, values);
      }
    }
    return values;
  }

  private AccumulatorValue constant(Accumulator accumulator, long value, long output) {
    return new AccumulatorValue(
        value,
        0,
        0,
        output,
        0,
        AccumulatorValue.CONSTANT,
        accumulator.operation(input, 0),
        AccumulatorValue.INT64);
  }

  @Override
  public List<AccumulatorValue> results(long output) {
    List<AccumulatorValue> values = new ArrayList<>();
    for (int i = 0; i < accumulators.size(); i++) {
      addWords(i, null, output, null, values);
    }
    return values;
  }

  // Without a column and a scope, no values are read.
  private void addWords(
      int position, Column column, long output, AccessScope scope, List<AccumulatorValue> values) {
    Accumulator accumulator = accumulators.get(position);
    Place place = places.get(position);
    boolean readsData = column != null && !accumulator.isCount();
    int words = accumulator.words(input);
    AccumulatorValue first =
        new AccumulatorValue(
            readsData ? column.dataAddress(scope) : 0,
            column == null ? 0 : validity(column, scope),
            column == null ? 0 : column.offset(),
            output + place.data,
            readsData ? column.type().id().byteWidth() : 0,
            readsData ? code(accumulator, column.type()) : AccumulatorValue.ONE,
            accumulator.operation(input, 0),
            accumulator.isNullable(input)
                ? AccumulatorValue.HALF
                : code(accumulator, accumulator.type(input)));
    values.add(first);
    if (accumulator.isOrdered(input)) {
      values.addAll(AccumulatorValue.furtherWords(words - 1));
    } else if (words > 1) {
      DataType type = input.type(accumulator.column());
      values.addAll(first.furtherWords(type, output + place.tops));
    }
  }

  private int code(Accumulator accumulator, DataType type) {
    if (accumulator.isOrdered(input)) {
      return AccumulatorValue.bitsCode(type);
    }
    return AccumulatorValue.code(type);
  }

  private static long validity(Column column, AccessScope scope) {
    return column.validity().map(mask -> mask.access(AccessMode.READ, scope)).orElse(0L);
  }

  @Override
  public List<SumColumn> sums(long output) {
    List<SumColumn> sums = new ArrayList<>();
    for (int i = 0; i < accumulators.size(); i++) {
      Place place = places.get(i);
      if (accumulators.get(i).isNullable(input)) {
        long tops = hasTop(accumulators.get(i)) ? output + place.tops : 0;
        sums.add(new SumColumn(output + place.data, tops, output + place.mask));
      }
    }
    return sums;
  }

  @Override
  public Column column(int position, Buffer buffer, int rows) {
    Accumulator accumulator = accumulators.get(position);
    Place place = places.get(position);
    DataType type = accumulator.type(input);
    Buffer data = buffer.slice(place.data, (long) rows * type.id().byteWidth());
    Buffer mask =
        accumulator.isNullable(input) ? buffer.slice(place.mask, Column.maskBytes(rows)) : null;
    return new Column(type, rows, 0, data, mask, List.of());
  }
}
