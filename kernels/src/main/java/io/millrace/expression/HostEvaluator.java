package io.millrace.expression;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.HostNodes.CallNode;
import io.millrace.expression.HostNodes.CaseNode;
import io.millrace.expression.HostNodes.IsNullNode;
import io.millrace.expression.HostNodes.JunctionNode;
import io.millrace.expression.HostNodes.LiteralNode;
import io.millrace.expression.HostNodes.RowNumberNode;
import io.millrace.expression.TypedExpression.Call;
import io.millrace.memory.AccessScope;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Evaluates expressions over one table in host memory: the meaning that generated kernels are held
 * to. It goes through the rows in chunks that stay in the processor's cache, function by function,
 * and computes equal expressions once.
 */
final class HostEvaluator implements AutoCloseable {
  private final Table input;
  private final AccessScope scope;
  private final ByteArena literals = new ByteArena();
  private final ByteArena results = new ByteArena();
  private final Map<TypedExpression, HostNode> nodes = new HashMap<>();
  private final List<HostInputNode> inputs = new ArrayList<>();
  private int firstRow;
  private EvaluationException failure;

  /**
   * @param input a table in host memory, which stays the caller's
   * @param scope what its memory is accessed in
   */
  private HostEvaluator(Table input, AccessScope scope) {
    this.input = input;
    this.scope = scope;
  }

  /**
   * The rows of {@code input} for which {@code condition} is true, with one column an expression.
   *
   * @param condition null for all rows
   * @throws EvaluationException for the first row that fails
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no memory for the result, or if
   *     a column of it would have over 2 GiB of bytes
   */
  static Table evaluate(
      Table input,
      TypedExpression condition,
      List<TypedExpression> projections,
      Schema outputSchema,
      AccessScope scope,
      MemoryResource memory) {
    List<HostColumnWriter> writers = new ArrayList<>();
    try (HostEvaluator evaluator = new HostEvaluator(input, scope)) {
      for (TypedExpression projection : projections) {
        boolean computed = !(projection instanceof TypedExpression.InputReference);
        writers.add(
            new HostColumnWriter(
                projection.type(),
                projection.nullable(),
                computed,
                input.rowCount(),
                scope,
                memory));
      }
      int rows = evaluator.run(condition, projections, writers);
      return finish(outputSchema, writers, rows);
    } finally {
      FirstFailure closing = new FirstFailure();
      writers.forEach(writer -> closing.run(writer::close));
      closing.rethrow();
    }
  }

  private static Table finish(Schema schema, List<HostColumnWriter> writers, int rows) {
    List<Column> columns = new ArrayList<>();
    try {
      writers.forEach(writer -> columns.add(writer.finish()));
      return new Table(schema, columns, rows);
    } catch (RuntimeException | Error e) {
      columns.forEach(Column::close);
      throw e;
    }
  }

  private int run(
      TypedExpression condition,
      List<TypedExpression> projections,
      List<HostColumnWriter> writers) {
    HostNode filter = condition == null ? null : node(condition);
    List<HostNode> outputs = projections.stream().map(this::node).toList();
    int rows = 0;
    for (firstRow = 0; firstRow < input.rowCount(); firstRow += HostVector.CAPACITY) {
      startChunk();
      Rows all = Rows.all(Math.min(HostVector.CAPACITY, input.rowCount() - firstRow), null);
      Rows selected = filter == null ? all : select(filter, all);
      for (int i = 0; i < outputs.size(); i++) {
        HostVector values = outputs.get(i).evaluate(selected);
        writers.get(i).append(values, selected);
      }
      if (failure != null) {
        throw failure;
      }
      rows += selected.count();
    }
    return rows;
  }

  private void startChunk() {
    results.reset();
    inputs.forEach(node -> node.startChunk(firstRow));
    nodes.values().forEach(HostNode::startChunk);
  }

  private static Rows select(HostNode filter, Rows all) {
    HostVector condition = filter.evaluate(all);
    int[] positions = new int[all.count()];
    int count = 0;
    for (int row = 0; row < all.count(); row++) {
      positions[count] = row;
      count += condition.getBoolean(row) && !condition.isNull(row) ? 1 : 0;
    }
    return count == all.count() ? all : all.of(positions, count);
  }

  private void fail(Call call, HostVector[] operands, int row, Status status) {
    int position = firstRow + row;
    if (failure == null || position < failure.row()) {
      StringBuilder values = new StringBuilder();
      for (int i = 0; i < operands.length; i++) {
        values.append(i == 0 ? "" : ", ").append(operands[i].describe(row));
      }
      failure =
          new EvaluationException(
              status.description() + " in " + call, position, values.toString());
    }
  }

  private HostNode node(TypedExpression expression) {
    HostNode node = nodes.get(expression);
    if (node == null) {
      node = create(expression);
      nodes.put(expression, node);
    }
    return node;
  }

  private HostNode create(TypedExpression expression) {
    if (expression instanceof TypedExpression.InputReference reference) {
      Column column = input.column(reference.index());
      HostInputNode node = new HostInputNode(column, vector(reference.type()), scope);
      inputs.add(node);
      return node;
    } else if (expression instanceof TypedExpression.Literal literal) {
      return new LiteralNode(literal, new HostVector(literal.type(), literals));
    } else if (expression instanceof TypedExpression.RowNumber) {
      return new RowNumberNode(vector(expression.type()), () -> firstRow);
    } else if (expression instanceof Call call) {
      return new CallNode(call, operands(call), vector(call.type()), this::fail);
    } else if (expression instanceof TypedExpression.Try attempt) {
      Call call = attempt.call();
      return new CallNode(call, operands(call), vector(call.type()), null);
    }
    List<HostNode> operands = expression.operands().stream().map(this::node).toList();
    HostVector vector = vector(expression.type());
    if (expression instanceof TypedExpression.IsNull) {
      return new IsNullNode(operands.get(0), vector);
    } else if (expression instanceof TypedExpression.Case branches) {
      return new CaseNode(branches, operands, vector);
    }
    return new JunctionNode(expression, operands, vector);
  }

  private HostNode[] operands(Call call) {
    return call.operands().stream().map(this::node).toArray(HostNode[]::new);
  }

  private HostVector vector(DataType type) {
    return new HostVector(type, results);
  }

  @Override
  public void close() {
    literals.close();
    results.close();
  }
}
