// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.column.Column;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.typed.RowNumber;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.BatchContext;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A calc with parts that only the host can compute, for tables on a device. A first calc on the
 * device filters, and computes columns that do not depend on the host. The host computes its values
 * from copies of the columns that it reads. A last calc on the device computes what is left; see
 * {@link SplitExpressions}.
 *
 * <p>The condition is a conjunction. The first calc filters by the operands before the first one
 * that needs the host, and the host by the others. Thread-safe.
 */
final class SplitCalc implements AutoCloseable {
  private final Calc first;
  private final List<String> hostColumns;
  private final Calc onHost;
  private final boolean hostFilters;
  private final List<String> lastColumns;
  private final Calc last;

  private SplitCalc(
      Schema inputSchema,
      Optional<TypedExpression> deviceCondition,
      SplitExpressions parts,
      Schema outputSchema,
      Set<String> ptxSources) {
    Schema columns = ComputedColumns.numbered(parts.columns());
    this.first = calc(inputSchema, deviceCondition, columns, parts.columns(), ptxSources);

    this.hostColumns = parts.hostColumns().stream().map(String::valueOf).toList();
    this.hostFilters = parts.hostCondition().isPresent();
    List<TypedExpression> ofHost = new ArrayList<>(parts.hostValues());
    if (hostFilters) {
      ofHost.add(new RowNumber());
    }
    Schema hostInput = columns.select(hostColumns);
    Schema hostOutput = ComputedColumns.numbered(ofHost);
    this.onHost = calc(hostInput, parts.hostCondition(), hostOutput, ofHost, ptxSources);

    this.lastColumns = parts.restColumns().stream().map(String::valueOf).toList();
    Schema lastInput = ComputedColumns.numbered(parts.inputsOfRest());
    this.last = calc(lastInput, Optional.empty(), outputSchema, parts.rest(), ptxSources);
  }

  private static Calc calc(
      Schema input,
      Optional<TypedExpression> condition,
      Schema output,
      List<TypedExpression> projections,
      Set<String> ptxSources) {
    return Calc.sharing(input, output, condition.orElse(null), projections, ptxSources);
  }

  /**
   * Splits a calc; empty if the device could not compute the first and the last part.
   *
   * @param condition null for no filter
   * @param outputSchema schema of the projections
   */
  static Optional<SplitCalc> of(
      Schema inputSchema,
      TypedExpression condition,
      List<TypedExpression> projections,
      Schema outputSchema,
      Set<String> ptxSources) {
    List<TypedExpression> conjuncts =
        condition == null
            ? List.of()
            : condition instanceof TypedExpression.And ? condition.operands() : List.of(condition);
    int ofDevice =
        (int) conjuncts.stream().takeWhile(part -> !SplitExpressions.needsHost(part)).count();
    SplitExpressions parts =
        new SplitExpressions(and(conjuncts.subList(ofDevice, conjuncts.size())), projections);
    SplitCalc split =
        new SplitCalc(
            inputSchema, and(conjuncts.subList(0, ofDevice)), parts, outputSchema, ptxSources);
    return split.first.hostReasons().isEmpty() && split.last.hostReasons().isEmpty()
        ? Optional.of(split)
        : Optional.empty();
  }

  private static Optional<TypedExpression> and(List<TypedExpression> conjuncts) {
    return conjuncts.size() > 1
        ? Optional.of(new TypedExpression.And(conjuncts))
        : conjuncts.stream().findFirst();
  }

  /**
   * Computes the projections as a new table. Waits for the stream.
   *
   * @throws EvaluationException if a row fails. It need not be the first one that fails, and its
   *     position in {@code input} is not known
   */
  Table apply(Table input, BatchContext batch, DeviceStream stream, MemoryResource memory) {
    try (Table columns = first.apply(input, batch, stream, memory);
        Table read = columns.select(hostColumns);
        Table hostValues =
            ComputedColumns.onHost(
                read,
                (copy, hostStream, hostMemory) -> onHost.apply(copy, batch, hostStream, hostMemory),
                stream,
                memory);
        Table passed = columns.select(lastColumns);
        Table lastInput = lastInput(hostValues, passed, stream, memory)) {
      return last.apply(lastInput, batch, stream, memory);
    }
  }

  private Table lastInput(
      Table hostValues, Table passed, DeviceStream stream, MemoryResource memory) {
    if (!hostFilters) {
      return beside(hostValues.columns(), passed);
    }
    int numbers = hostValues.columnCount() - 1;
    try (Table kept = Gather.gather(passed, hostValues.column(numbers), stream, memory)) {
      return beside(hostValues.columns().subList(0, numbers), kept);
    }
  }

  private Table beside(List<Column> hostValues, Table passed) {
    List<Column> all = Stream.concat(hostValues.stream(), passed.columns().stream()).toList();
    return Table.of(last.inputSchema(), passed.rowCount(), i -> all.get(i).share());
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    Stream.of(first, onHost, last).forEach(part -> failure.run(part::close));
    failure.rethrow();
  }
}
