// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.Call;
import io.millrace.expression.vector.BatchContext;
import io.millrace.expression.vector.ByteArena;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import io.millrace.memory.AccessScope;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;

/**
 * Evaluates expressions over tables in host memory and thereby defines their meaning for generated
 * kernels. Processes a table in chunks of rows that fit the processor's cache, one function at a
 * time, and computes equal expressions once. An instance evaluates one table at a time, in any
 * thread, and reuses its vectors and literals. Between tables it holds only Java objects.
 */
@Internal
public final class HostEvaluator {
  private final int capacity;
  private final List<TypedExpression> projections;
  private final ByteArena results = new ByteArena();
  private final HostGraph unfiltered;
  private final HostGraph filtered;
  private final HostNode filter;
  private final HostNode[] outputs;
  private final int[] selectedPositions;
  private EvaluationException failure;

  /**
   * @param condition null for no filter
   * @param capacity maximum number of rows in a chunk, at most {@value HostVector#CAPACITY}
   */
  public HostEvaluator(TypedExpression condition, List<TypedExpression> projections, int capacity) {
    this.capacity = capacity;
    this.projections = projections;
    this.unfiltered = new HostGraph(capacity, ByteArena.collected(), results, this::fail);
    this.filter = condition == null ? null : unfiltered.node(condition);
    this.filtered = filter == null ? unfiltered : unfiltered.filtered();
    this.outputs = projections.stream().map(filtered::node).toArray(HostNode[]::new);
    this.selectedPositions = new int[capacity];
  }

  public int capacity() {
    return capacity;
  }

  /**
   * Computes one column per projection for the rows of {@code input} that satisfy the condition.
   * The evaluator must not be reused after a failure.
   *
   * @param input a table in host memory, still owned by the caller
   * @param batch the batch of the table
   * @param scope scope for accessing the input's memory
   * @throws EvaluationException for the first row that fails
   * @throws io.millrace.device.GpuOutOfMemoryException if memory for the result runs out, or a
   *     result column would exceed 2 GiB of bytes
   */
  public Table evaluate(
      Table input,
      BatchContext batch,
      Schema outputSchema,
      AccessScope scope,
      MemoryResource memory) {
    unfiltered.bind(input, batch, scope);
    if (filtered != unfiltered) {
      filtered.bind(input, batch, scope);
    }
    List<VectorWriter> writers = new ArrayList<>(projections.size());
    try (results) {
      for (TypedExpression projection : projections) {
        writers.add(writer(projection, input.rowCount(), scope, memory));
      }
      int rows = run(input.rowCount(), writers);
      return finish(outputSchema, writers, rows);
    } catch (RuntimeException | Error e) {
      FirstFailure failed = new FirstFailure();
      failed.add(e);
      writers.forEach(writer -> failed.run(writer::close));
      throw e;
    }
  }

  private static VectorWriter writer(
      TypedExpression projection, int rows, AccessScope scope, MemoryResource memory) {
    DataType type = projection.type();
    boolean computed = InputPath.of(projection).isEmpty();
    return type.id().isScalar()
        ? new HostColumnWriter(type, projection.nullable(), computed, rows, scope, memory)
        : new NestedColumnWriter(type, scope, memory);
  }

  private static Table finish(Schema schema, List<VectorWriter> writers, int rows) {
    return Table.of(schema, rows, position -> writers.get(position).finish());
  }

  private int run(int inputRows, List<VectorWriter> writers) {
    int rows = 0;
    for (int first = 0, count; first < inputRows; first += count) {
      count = Math.min(capacity, inputRows - first);
      rows += runChunk(first, Rows.all(count, null), writers);
      if (failure != null) {
        throw failure;
      }
    }
    return rows;
  }

  private int runChunk(int first, Rows all, List<VectorWriter> writers) {
    results.reset();
    unfiltered.startChunk(first, all);
    Rows selected = all;
    if (filter != null) {
      selected = select(filter.evaluate(all), all);
      filtered.startChunk(first, selected);
    }
    Rows kept = Rows.all(selected.count(), null);
    for (int i = 0; i < outputs.length; i++) {
      writers.get(i).append(outputs[i].evaluate(kept), kept);
    }
    return kept.count();
  }

  // Branch-free: the branch would be mispredicted.
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
              status.description() + " in " + call,
              position,
              values.toString(),
              cause == null && status == Status.INVALID_CAST ? castCause(call, values) : cause);
    }
  }

  // What Flink's casts throw, so that users who look for it find it.
  private static RuntimeException castCause(Call call, CharSequence value) {
    String message = "cannot cast " + value + " to " + call.type();
    return switch (call.type().id()) {
      case DATE, TIME, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS ->
          new DateTimeParseException(message, value, 0);
      case INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, DECIMAL32, DECIMAL64, DECIMAL128 ->
          new NumberFormatException(message);
      case BOOL -> new ClassCastException(message);
      default -> null;
    };
  }
}
