// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.column.Column;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.typed.RowNumber;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.BatchContext;
import io.millrace.memory.AccessScope;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.StagingMemoryResource;
import io.millrace.memory.retry.GpuSemaphore;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The computed columns of a calc. A generated kernel evaluates tables on a device that supports it,
 * or generated kernels and the host share the work; the host evaluates the other tables, and rows
 * that need it. Thread-safe.
 */
final class ComputedColumns implements AutoCloseable {
  private final Schema inputSchema;
  private final TypedExpression condition;
  private final List<TypedExpression> expressions;
  private final Schema schema;
  private final CalcKernels kernels;
  private final HostEvaluators evaluators;
  // The same kernel with row numbers as the last column; runs only if rows of a filter need the
  // host.
  private final List<TypedExpression> numbering;
  private final Set<String> ptxSources;
  private CalcKernels numberingKernels;
  private Optional<SplitCalc> split;

  /**
   * @param condition null for no filter
   * @param schema schema of the columns; if it is empty, columns are named by position
   */
  ComputedColumns(
      Schema inputSchema,
      TypedExpression condition,
      List<TypedExpression> expressions,
      Optional<Schema> schema,
      Set<String> ptxSources) {
    this.inputSchema = inputSchema;
    this.condition = condition;
    this.expressions = expressions;
    this.schema = schema.orElseGet(() -> numbered(expressions));
    this.kernels = new CalcKernels(condition, expressions, ptxSources);
    this.evaluators = new HostEvaluators(condition, expressions, this.schema);
    List<TypedExpression> withNumbers = new ArrayList<>(expressions);
    withNumbers.add(new RowNumber());
    this.numbering = List.copyOf(withNumbers);
    this.ptxSources = ptxSources;
  }

  private synchronized CalcKernels numberingKernels() {
    if (numberingKernels == null) {
      numberingKernels = new CalcKernels(condition, numbering, ptxSources);
    }
    return numberingKernels;
  }

  // Made where there is a device, which the host's part of a split calc never runs on.
  private synchronized Optional<SplitCalc> split() {
    if (split == null) {
      split = SplitCalc.of(inputSchema, condition, expressions, schema, ptxSources);
    }
    return split;
  }

  static Schema numbered(List<TypedExpression> expressions) {
    List<Field> fields = new ArrayList<>();
    for (TypedExpression expression : expressions) {
      String name = String.valueOf(fields.size());
      fields.add(new Field(name, expression.type(), expression.nullable()));
    }
    return new Schema(fields);
  }

  List<TypedExpression> expressions() {
    return expressions;
  }

  /** See {@link Calc#hostReasons}. */
  List<String> hostReasons() {
    return kernels.hostReasons();
  }

  /** See {@link Calc#isTooLarge}. */
  boolean isTooLarge() {
    return kernels.isTooLarge();
  }

  /**
   * Returns the generated kernel on {@code device}; requires empty {@link #hostReasons}.
   *
   * @param hasMasks whether input columns may have masks
   */
  CalcKernel kernel(Device device, boolean hasMasks) {
    return kernels.on(device, hasMasks);
  }

  /** Returns the program of the generated kernel; requires empty {@link #hostReasons}. */
  CalcProgram program() {
    return kernels.program(true);
  }

  /** See {@link Calc#close}. */
  @Override
  public void close() {
    try (evaluators;
        kernels) {
      closeMadeOnDemand();
    }
  }

  private synchronized void closeMadeOnDemand() {
    FirstFailure failure = new FirstFailure();
    if (numberingKernels != null) {
      failure.run(numberingKernels::close);
    }
    if (split != null) {
      split.ifPresent(parts -> failure.run(parts::close));
    }
    failure.rethrow();
  }

  /** See {@link Calc#apply}; computes these columns only. */
  Table evaluate(Table input, BatchContext batch, DeviceStream stream, MemoryResource memory) {
    if (expressions.isEmpty() || stream.device().isHostAccessible()) {
      return evaluateOnHost(input, batch, stream, memory);
    }
    Optional<Table> result =
        input.rowCountUpperBound() == 0 || isTooLarge()
            ? Optional.empty()
            : hostReasons().isEmpty()
                ? evaluate(kernel(batch), input, batch, stream, memory)
                : evaluateSplit(input, batch, stream, memory);
    return result.orElseGet(
        () ->
            onHost(
                input,
                (copy, hostStream, hostMemory) ->
                    evaluateOnHost(copy, batch, hostStream, hostMemory),
                stream,
                memory));
  }

  /** What is evaluated on the host: makes a new table in {@code memory}. */
  @FunctionalInterface
  interface HostEvaluation {
    Table evaluate(Table input, DeviceStream stream, MemoryResource memory);
  }

  /**
   * Evaluates a copy of {@code input} in pinned host memory, and copies the result back. Waits for
   * {@code stream}, before and after. The evaluation needs no permit of a {@link GpuSemaphore}.
   *
   * @return a new table in {@code memory}
   */
  static Table onHost(
      Table input, HostEvaluation evaluation, DeviceStream stream, MemoryResource memory) {
    MemoryResource hostMemory = new StagingMemoryResource(stream.device());
    try (DeviceStream hostStream = hostMemory.device().createStream();
        Table copy = input.copyTo(hostMemory, hostStream, stream)) {
      stream.synchronize();
      try (Table result =
          GpuSemaphore.withoutPermit(() -> evaluation.evaluate(copy, hostStream, hostMemory))) {
        Table output = result.copyTo(memory, stream, stream);
        stream.synchronize();
        return output;
      }
    }
  }

  private Optional<Table> evaluateSplit(
      Table input, BatchContext batch, DeviceStream stream, MemoryResource memory) {
    try {
      return split().map(parts -> parts.apply(input, batch, stream, memory));
    } catch (EvaluationException e) {
      // The host finds the first row that fails in any part.
      return Optional.empty();
    }
  }

  private DevicePart kernel(BatchContext batch) {
    return (numbersRows, input, resultSchema, stream, memory) -> {
      CalcKernels chosen = numbersRows ? numberingKernels() : kernels;
      return chosen
          .on(stream.device(), hasMasks(input))
          .run(input, batch, chosen.tables(), resultSchema, stream, memory);
    };
  }

  /**
   * Evaluates all rows on {@code device} except rows that need the host. Empty if most rows need
   * the host, which then evaluates the whole table faster.
   */
  Optional<Table> evaluate(
      DevicePart device,
      Table input,
      BatchContext batch,
      DeviceStream stream,
      MemoryResource memory) {
    try (DevicePart.Result result = device.run(false, input, schema, stream, memory)) {
      BitSet rows = result.rowsForHost();
      if (rows.isEmpty()) {
        return Optional.of(result.table().share());
      } else if (rows.cardinality() > input.rowCount() / 2) {
        return Optional.empty();
      } else if (condition == null) {
        return Optional.of(merge(result, input, batch, false, stream, memory));
      }
    }
    if (!numberingKernels().hostReasons().isEmpty()) {
      return Optional.empty();
    }
    // Which rows were selected is only known if the kernel writes row numbers.
    Schema withNumbers = numbered(numbering);
    try (DevicePart.Result result = device.run(true, input, withNumbers, stream, memory);
        Table merged = merge(result, input, batch, true, stream, memory)) {
      List<Column> columns =
          merged.columns().subList(0, expressions.size()).stream().map(Column::share).toList();
      return Optional.of(merged.withColumns(schema, columns));
    }
  }

  private Table merge(
      DevicePart.Result result,
      Table input,
      BatchContext batch,
      boolean numbersRows,
      DeviceStream stream,
      MemoryResource memory) {
    List<TypedExpression> evaluated = numbersRows ? numbering : expressions;
    try (RowsForHost rows = new RowsForHost(result.rowsForHost(), stream, memory);
        Table ofHost = rows.evaluate(input, batch, condition, evaluated, result.table().schema())) {
      return rows.merge(result.table(), ofHost, numbersRows);
    }
  }

  private static boolean hasMasks(Table input) {
    return input.upperBoundColumns().stream().anyMatch(ComputedColumns::hasMask);
  }

  private static boolean hasMask(Column column) {
    return column.isNullable()
        || (column.type().id() == TypeId.STRUCT
            && column.children().stream().anyMatch(ComputedColumns::hasMask));
  }

  private Table evaluateOnHost(
      Table input, BatchContext batch, DeviceStream stream, MemoryResource memory) {
    if (expressions.isEmpty()) {
      return input.withColumns(schema, List.of());
    }
    try (AccessScope scope = AccessScope.on(stream)) {
      return evaluators.evaluate(input, batch, scope, memory);
    }
  }
}
