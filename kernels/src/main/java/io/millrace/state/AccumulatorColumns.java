// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.state.StateInput.SumColumn;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.ResultLayout;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.WideValue;
import java.util.ArrayList;
import java.util.List;

/** The columns of accumulators in a result: where they lie in its buffer. */
final class AccumulatorColumns implements StateValues.ResultColumns {
  private final Schema input;
  private final List<Accumulator> accumulators;
  private final boolean hasStringWords;
  private final boolean takesPartials;
  private final int keys;
  private final List<Place> places = new ArrayList<>();

  /**
   * Places in the buffer.
   *
   * @param mask of a column that may be null
   * @param tops of the words above the values of sums with three words; of a TIMESTAMP with
   *     nanoseconds these
   */
  private record Place(long data, long mask, long tops) {}

  /**
   * @param capacity rows of the result at most
   * @param hasStringWords whether strings have two words here, the head and the tail; else they
   *     have no place
   * @param layout takes the columns
   */
  AccumulatorColumns(
      StateSchema schema, int capacity, boolean hasStringWords, ResultLayout layout) {
    this.input = schema.input();
    this.accumulators = schema.accumulators();
    this.hasStringWords = hasStringWords;
    this.takesPartials = schema.takesPartials();
    this.keys = schema.keys().size();
    for (Accumulator accumulator : accumulators) {
      long width = width(accumulator.type(input).id());
      long topWidth = topWidth(accumulator);
      places.add(
          new Place(
              layout.add(capacity * width),
              layout.add(accumulator.isNullable(input) ? Column.maskBytes(capacity) : 0),
              layout.add(capacity * topWidth)));
    }
  }

  private long width(TypeId id) {
    return switch (id) {
      case STRING, BINARY -> hasStringWords ? 2 * Long.BYTES : 0;
      case TIMESTAMP_NANOS -> Long.BYTES;
      default -> id.byteWidth();
    };
  }

  private long topWidth(Accumulator accumulator) {
    boolean isNanos = accumulator.type(input).id() == TypeId.TIMESTAMP_NANOS;
    return hasTop(accumulator) ? Long.BYTES : isNanos ? Integer.BYTES : 0;
  }

  /** The place of the words of strings. */
  long words(int position) {
    return places.get(position).data;
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
    if (accumulator.isWide(input)) {
      addWideWords(accumulator, place, column, output, scope, values);
      return;
    }
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

  private void addWideWords(
      Accumulator accumulator,
      Place place,
      Column column,
      long output,
      AccessScope scope,
      List<AccumulatorValue> values) {
    DataType type = accumulator.type(input);
    boolean isNanos = type.id() == TypeId.TIMESTAMP_NANOS;
    if (accumulator.isString(input) && !hasStringWords) {
      values.addAll(AccumulatorValue.furtherWords(accumulator.words(input)));
      return;
    }
    AccumulatorValue first =
        new AccumulatorValue(
            column == null ? 0 : firstData(column, scope),
            column == null ? 0 : validity(column, scope),
            column == null ? 0 : column.offset(),
            output + place.data,
            (int) width(type.id()),
            AccumulatorValue.INT64,
            accumulator.operation(input, 0),
            isNanos ? AccumulatorValue.INT64 : AccumulatorValue.HALF);
    boolean hasChild = isNanos || type.id().isVariableWidth();
    int child = isNanos ? 1 : 0;
    long source = column == null || !hasChild ? 0 : ChangedKeys.childAddress(column, child, scope);
    values.add(first);
    long target = output + (isNanos ? place.tops : place.data + Long.BYTES);
    int targetType = isNanos ? AccumulatorValue.INT32 : AccumulatorValue.HALF;
    values.addAll(WideValue.furtherWords(type, source, target, targetType));
  }

  private static long firstData(Column column, AccessScope scope) {
    return switch (column.type().id()) {
      case STRING, BINARY -> column.data().orElseThrow().access(AccessMode.READ, scope);
      case TIMESTAMP_NANOS -> ChangedKeys.childAddress(column, 0, scope);
      default -> column.dataAddress(scope);
    };
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

  /**
   * The first rows of a column, not of strings, over slices of the buffer; the caller closes it.
   */
  @Override
  public Column column(int position, Buffer buffer, int rows) {
    Accumulator accumulator = accumulators.get(position);
    Place place = places.get(position);
    DataType type = accumulator.type(input);
    if (type.id() == TypeId.TIMESTAMP_NANOS) {
      Buffer millis = buffer.slice(place.data, (long) rows * Long.BYTES);
      Buffer nanos = buffer.slice(place.tops, (long) rows * Integer.BYTES);
      Column first = new Column(DataType.INT64, rows, 0, millis, null, List.of());
      Column second = new Column(DataType.INT32, rows, 0, nanos, null, List.of());
      return new Column(type, rows, 0, null, null, List.of(first, second));
    }
    Buffer data = buffer.slice(place.data, (long) rows * type.id().byteWidth());
    Buffer mask =
        accumulator.isNullable(input) ? buffer.slice(place.mask, Column.maskBytes(rows)) : null;
    return new Column(type, rows, 0, data, mask, List.of());
  }

  /** The words of accumulators as columns, as they are in state rows: what other tables combine. */
  static final class Words implements StateValues.ResultColumns {
    private final List<Long> places = new ArrayList<>();

    /**
     * @param schema without a time
     * @param rows of the result
     * @param layout takes the columns
     */
    Words(StateSchema schema, int rows, ResultLayout layout) {
      int words = schema.wordSchema().size();
      for (int i = 0; i < words; i++) {
        places.add(layout.add((long) rows * Long.BYTES));
      }
    }

    @Override
    public List<AccumulatorValue> results(long output) {
      return places.stream().map(place -> AccumulatorValue.wordTo(output + place)).toList();
    }

    @Override
    public List<SumColumn> sums(long output) {
      return List.of();
    }

    @Override
    public Column column(int position, Buffer buffer, int rows) {
      Buffer data = buffer.slice(places.get(position), (long) rows * Long.BYTES);
      return new Column(DataType.INT64, rows, 0, data, null, List.of());
    }
  }
}
