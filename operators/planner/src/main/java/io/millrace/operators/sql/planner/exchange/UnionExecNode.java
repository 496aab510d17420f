// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.exchange;

import static io.millrace.expression.Expressions.col;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.exchange.ExchangeTransformations;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.planner.exchange.UnionMatcher.Spec;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** Batches of several inputs, whose columns get the same names, nullability and kinds. */
final class UnionExecNode extends MillraceExecNode {
  UnionExecNode(Spec spec, List<NodeInput> inputs, String description) {
    super(UnionRel.KIND, inputs, spec.output(), description);
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    TableConfig config = planner.getTableConfig();
    List<Transformation<ColumnBatch>> inputs =
        IntStream.range(0, getInputEdges().size())
            .mapToObj(input -> inputBatches(input, planner))
            .toList();
    Schema common = common(inputs.stream().map(UnionExecNode::schema).toList());
    List<Transformation<ColumnBatch>> alike =
        inputs.stream().map(input -> as(common, input, config)).toList();
    String name = createFormattedTransformationName(getDescription(), "MillraceUnion", config);
    Transformation<ColumnBatch> union = ExchangeTransformations.union(alike, name, config);
    setUids(union, alike, config);
    return union;
  }

  private static Schema schema(Transformation<ColumnBatch> batches) {
    return ColumnBatchTypeInformation.schemaOf(batches.getOutputType());
  }

  private Schema common(List<Schema> schemas) {
    List<Field> fields = new ArrayList<>();
    for (int i = 0; i < outputType().getFieldCount(); i++) {
      int column = i;
      boolean nullable = schemas.stream().anyMatch(schema -> schema.field(column).nullable());
      String name = outputType().getFieldNames().get(i);
      fields.add(new Field(name, schemas.get(0).type(i), nullable));
    }
    Schema rows = new Schema(fields);
    return schemas.stream().anyMatch(RowKindColumn::isIn) ? RowKindColumn.addTo(rows) : rows;
  }

  private Transformation<ColumnBatch> as(
      Schema common, Transformation<ColumnBatch> input, TableConfig config) {
    Schema schema = schema(input);
    if (schema.equals(common)) {
      return input;
    }
    List<Expression> columns = new ArrayList<>();
    for (int i = 0; i < outputType().getFieldCount(); i++) {
      columns.add(col(schema.field(i).name()).as(common.field(i).name()));
    }
    CalcPlan plan =
        CalcPlan.of(schema, new PlanContext(config).expressionSettings()).select(columns);
    CalcPlan typed = (RowKindColumn.isIn(common) ? plan.withRowKinds() : plan).as(common);
    return append(
        input,
        "columns",
        TransformOperator.factory(typed.transforms()),
        new ColumnBatchTypeInformation(common),
        config);
  }
}
