// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.vector.BatchContext;
import io.millrace.kernel.concatenate.Concatenate;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * Several projections of each row, as grouping sets need them: the rows of the first projection,
 * then the rows of the next one, and so on. Strings make the host wait for the device.
 */
@Internal
public final class ExpandTransform implements TableTransform {
  private final Schema output;
  private final List<TableTransform> projections;
  private final DeviceContext context;

  private ExpandTransform(Schema output, List<TableTransform> projections, DeviceContext context) {
    this.output = output;
    this.projections = List.copyOf(projections);
    this.context = context;
  }

  /**
   * A factory of transforms to tables of {@link #outputSchema}.
   *
   * @param projections over the same input, whose columns have the same types
   * @throws IllegalArgumentException if there are no projections, their columns have different
   *     types, or a column is an ARRAY, a MAP or a ROW
   */
  public static Factory factory(List<CalcPlan> projections) {
    Schema output = outputSchema(projections);
    List<Factory> factories = new ArrayList<>();
    projections.forEach(projection -> factories.add(projection.transforms()));
    return context ->
        new ExpandTransform(
            output, factories.stream().map(factory -> factory.create(context)).toList(), context);
  }

  /**
   * The columns of the result, with the names of those of the first projection. A column may have
   * nulls if it may have them in a projection.
   *
   * @throws IllegalArgumentException as {@link #factory} does
   */
  public static Schema outputSchema(List<CalcPlan> projections) {
    List<Schema> schemas = projections.stream().map(CalcPlan::outputSchema).toList();
    if (schemas.isEmpty()) {
      throw new IllegalArgumentException("expected at least one projection, got none");
    }
    Schema first = schemas.get(0);
    schemas.forEach(schema -> checkTypes(first, schema));
    List<Field> fields = new ArrayList<>();
    for (int i = 0; i < first.size(); i++) {
      int column = i;
      boolean nullable = schemas.stream().anyMatch(schema -> schema.field(column).nullable());
      fields.add(new Field(first.field(i).name(), first.type(i), nullable));
    }
    return new Schema(fields);
  }

  private static void checkTypes(Schema first, Schema other) {
    if (other.size() != first.size()) {
      throw new IllegalArgumentException(
          "expected " + first.size() + " columns in each projection, got " + other.size());
    }
    for (int i = 0; i < first.size(); i++) {
      String name = first.field(i).name();
      if (!other.type(i).equals(first.type(i))) {
        throw new IllegalArgumentException(
            "expected " + first.type(i) + " for '" + name + "', got " + other.type(i));
      }
      if (!first.type(i).id().isScalar()) {
        throw new IllegalArgumentException(
            "expected a type other than ARRAY, MAP and ROW for '"
                + name
                + "', got "
                + first.type(i));
      }
    }
  }

  @Override
  public Table apply(Table input, BatchContext batch) {
    FirstFailure failure = new FirstFailure();
    List<Table> projected = new ArrayList<>();
    try {
      projections.forEach(projection -> projected.add(projection.apply(input, batch)));
      Schema schema = EventTimeColumn.isIn(input.schema()) ? EventTimeColumn.addTo(output) : output;
      return Concatenate.concatenate(schema, projected, context.stream(), context.resource());
    } finally {
      projected.forEach(table -> failure.run(table::close));
      failure.rethrow();
    }
  }

  @Override
  public List<String> hostReasons() {
    return projections.stream()
        .flatMap(projection -> projection.hostReasons().stream())
        .distinct()
        .toList();
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    projections.forEach(projection -> failure.run(projection::close));
    failure.rethrow();
  }
}
