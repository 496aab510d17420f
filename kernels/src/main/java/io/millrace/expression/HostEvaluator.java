package io.millrace.expression;

import io.millrace.column.Column;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.TypedExpression.Call;
import io.millrace.memory.AccessScope;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

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
  private final int[] selectedPositions = new int[HostVector.CAPACITY];
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
    HostGraph unfiltered = new HostGraph(input, scope, literals, results, this::fail);
    HostNode filter = condition == null ? null : unfiltered.node(condition);
    HostGraph filtered = filter == null ? unfiltered : unfiltered.filtered();
    List<HostNode> outputs = projections.stream().map(filtered::node).toList();
    int rows = 0;
    for (long next = 0; next < input.rowCount(); next += HostVector.CAPACITY) {
      int first = (int) next;
      results.reset();
      Rows all = Rows.all(Math.min(HostVector.CAPACITY, input.rowCount() - first), null);
      unfiltered.startChunk(first, all);
      Rows selected = all;
      if (filter != null) {
        selected = select(filter.evaluate(all), all);
        filtered.startChunk(first, selected);
      }
      Rows kept = Rows.all(selected.count(), null);
      for (int i = 0; i < outputs.size(); i++) {
        writers.get(i).append(outputs.get(i).evaluate(kept), kept);
      }
      if (failure != null) {
        throw failure;
      }
      rows += kept.count();
    }
    return rows;
  }

  // Without a branch a row, which would be foretold badly.
  private Rows select(HostVector condition, Rows all) {
    long[] isTrue = condition.longs();
    int count = 0;
    for (int row = 0; row < all.count(); row++) {
      selectedPositions[count] = row;
      count += (isTrue[row] == 0 ? 0 : 1) & (condition.isNull(row) ? 0 : 1);
    }
    return count == all.count() ? all : all.of(selectedPositions, count);
  }

  private void fail(
      Call call,
      HostVector[] operands,
      int row,
      int position,
      Status status,
      RuntimeException cause) {
    if (failure == null || position < failure.row()) {
      StringBuilder values = new StringBuilder();
      for (int i = 0; i < operands.length; i++) {
        values.append(i == 0 ? "" : ", ").append(operands[i].describe(row));
      }
      failure =
          new EvaluationException(
              status.description() + " in " + call, position, values.toString(), cause);
    }
  }

  @Override
  public void close() {
    literals.close();
    results.close();
  }
}
