// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.lookup;

import io.millrace.calc.Calc;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.row.RowKindColumn;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.annotation.Internal;

/** The columns of a lookup. Immutable; serialized with the job. */
@Internal
public final class LookupPlan implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final Field ROW = new Field("$row", DataType.INT32, false);

  private final Schema input;
  private final Lookup lookup;
  private final DimensionTable dimension;

  /**
   * @param input the columns of the batches
   * @throws IllegalArgumentException if the input is a changelog, a key does not exist or has
   *     another type than the dimension's, there are more or fewer keys than the dimension has, a
   *     column of the dimension that is no key has the name of one of the input, or a column of the
   *     dimension is an ARRAY or a ROW
   */
  public LookupPlan(Schema input, Lookup lookup) {
    this.input = input;
    this.lookup = lookup;
    this.dimension = lookup.dimension();
    if (RowKindColumn.isIn(input)) {
      throw new IllegalArgumentException(
          "a changelog cannot be looked up in a dimension table: a row and its retraction could get"
              + " different values");
    }
    checkKeys(lookup.keys());
    for (Field field : dimension.schema().fields()) {
      if (!field.type().id().isScalar()) {
        throw new IllegalArgumentException(
            "expected a type other than ARRAY and ROW for column '"
                + field.name()
                + "' of the dimension table "
                + dimension.name()
                + ", got "
                + field.type());
      }
    }
    for (Field field : values()) {
      if (input.names().contains(field.name())) {
        throw new IllegalArgumentException(
            "the stream and the dimension table "
                + dimension.name()
                + " both have a column '"
                + field.name()
                + "'; rename or drop one");
      }
    }
  }

  private void checkKeys(List<String> keys) {
    List<String> expected = dimension.keys();
    if (keys.size() != expected.size()) {
      throw new IllegalArgumentException(
          "expected a column for each key of the dimension table "
              + dimension.name()
              + ", "
              + expected
              + ", got "
              + keys);
    }
    for (int i = 0; i < keys.size(); i++) {
      DataType type = dimension.schema().type(dimension.schema().indexOf(expected.get(i)));
      DataType actual = input.type(input.indexOf(keys.get(i)));
      if (!actual.equals(type)) {
        throw new IllegalArgumentException(
            "expected "
                + type
                + " for '"
                + keys.get(i)
                + "', the type of '"
                + expected.get(i)
                + "' of the dimension table "
                + dimension.name()
                + ", got "
                + actual
                + "; cast it");
      }
    }
  }

  DimensionTable dimension() {
    return dimension;
  }

  List<String> keys() {
    return lookup.keys();
  }

  boolean isOuter() {
    return lookup.isOuter();
  }

  private List<Field> values() {
    return dimension.schema().fields().stream()
        .filter(field -> !dimension.keys().contains(field.name()))
        .map(field -> Field.of(field.name(), field.type()))
        .toList();
  }

  /** The columns of the input, and behind them those of the dimension, without its keys. */
  public Schema outputSchema() {
    List<Field> fields = new ArrayList<>(input.fields());
    fields.addAll(values());
    return new Schema(fields);
  }

  /** The output, and a column with the number of the row that was found. */
  private Schema matchSchema() {
    List<Field> fields = new ArrayList<>(outputSchema().fields());
    fields.add(ROW);
    return new Schema(fields);
  }

  /**
   * Keeps the rows that were found, of the table that {@link #join} gives. The caller closes it.
   */
  Calc matches() {
    List<Expression> columns = outputSchema().names().stream().map(Expressions::col).toList();
    return Calc.of(
        matchSchema(),
        Optional.of(Expressions.col(ROW.name()).ge(0)),
        columns,
        ResolutionContext.DEFAULT);
  }

  /**
   * The columns of a batch and of its rows in the dimension, over the same memory; the caller
   * closes the table.
   *
   * @param batch of the input, and perhaps with an {@link EventTimeColumn}, which the result has
   *     behind all others
   * @param rows the numbers of the rows that were found
   * @param found the values of these rows
   */
  Table join(Table batch, Column rows, Table found) {
    boolean hasTimes = EventTimeColumn.isIn(batch.schema());
    Schema schema = isOuter() ? outputSchema() : matchSchema();
    List<Column> columns = new ArrayList<>(batch.columns().subList(0, input.size()));
    columns.addAll(found.columns());
    if (!isOuter()) {
      columns.add(rows);
    }
    if (hasTimes) {
      columns.add(batch.column(input.size()));
    }
    return Table.of(
        hasTimes ? EventTimeColumn.addTo(schema) : schema,
        batch.rowCount(),
        position -> columns.get(position).share());
  }
}
