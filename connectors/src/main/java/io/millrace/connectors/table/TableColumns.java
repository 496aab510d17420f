// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.table;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.factories.DynamicTableFactory;

/** The columns of a source's rows, made of those that were read. */
@Internal
public final class TableColumns {
  private TableColumns() {}

  /**
   * The physical columns of a table.
   *
   * @throws ValidationException if a column has a type that no column of batches has, a MAP or a
   *     BITMAP
   */
  public static Schema physical(DynamicTableFactory.Context context) {
    Schema schema;
    try {
      schema = SchemaConverter.toSchema(context.getPhysicalRowDataType());
    } catch (IllegalArgumentException e) {
      throw new ValidationException(e.getMessage(), e);
    }
    for (DataType.Field field : schema.fields()) {
      if (field.type().hasMap() || field.type().hasBitmap()) {
        throw new ValidationException(
            "column '%s' has the type %s: no format reads or writes a %s"
                .formatted(field.name(), field.type(), field.type().hasMap() ? "MAP" : "BITMAP"));
      }
    }
    return schema;
  }

  /** Whether two types differ in nothing but which fields within them may be null. */
  public static boolean haveOneForm(DataType one, DataType other) {
    List<DataType.Field> left = one.fields();
    List<DataType.Field> right = other.fields();
    if (left.isEmpty() || right.isEmpty()) {
      return one.equals(other);
    }
    return one.id() == other.id()
        && one.isMap() == other.isMap()
        && left.size() == right.size()
        && IntStream.range(0, left.size())
            .allMatch(
                i ->
                    left.get(i).name().equals(right.get(i).name())
                        && haveOneForm(left.get(i).type(), right.get(i).type()));
  }

  /** Expressions with names, one for each. */
  public static List<Expression> named(List<Expression> expressions, List<String> names) {
    List<Expression> named = new ArrayList<>();
    for (int i = 0; i < expressions.size(); i++) {
      named.add(expressions.get(i).as(names.get(i)));
    }
    return named;
  }

  /**
   * Chooses the columns of a source's rows. Columns that are only chosen are not copied.
   *
   * @param read the batches that were read; their row kinds stay
   * @param options of the job
   * @return {@code read} if it has these columns
   */
  public static Transformation<ColumnBatch> select(
      Transformation<ColumnBatch> read, List<Expression> columns, ReadableConfig options) {
    Schema schema = ColumnBatchTypeInformation.schemaOf(read.getOutputType());
    CalcPlan plan = CalcPlan.of(schema, ExpressionSettings.DEFAULT).select(columns);
    return plan.outputSchema().equals(schema)
        ? read
        : TransformOperator.factory(plan.transforms())
            .appendTo(
                read, "columns", new ColumnBatchTypeInformation(plan.outputSchema()), options);
  }
}
