// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.BatchValue;
import io.millrace.expression.typed.RowNumber;
import io.millrace.expression.typed.Substitution;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.ValueNumbering;
import io.millrace.expression.vector.BatchContext;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A filter and projections in one operation from table to table. The result contains the rows that
 * satisfy the condition, in input order, with one column per projection. Immutable and thread-safe.
 * Must be closed after use on a device.
 */
@PublicEvolving
public final class Calc implements AutoCloseable {
  static final BatchContext NO_BATCH = new BatchContext(0, BatchContext.NO_WATERMARK, 0, 0);

  private final Schema inputSchema;
  private final Schema outputSchema;
  private final TypedExpression condition;
  private final List<TypedExpression> projections;
  private final Set<String> ptxSources;
  private final ResultColumns columns;
  private final ComputedColumns computed;
  private final boolean isAllComputed;
  private final boolean readsBatch;

  /** Takes expressions in which equal subexpressions are one object. */
  private Calc(
      Schema inputSchema,
      Schema outputSchema,
      TypedExpression condition,
      List<TypedExpression> projections,
      Collection<String> ptxSources) {
    this.inputSchema = inputSchema;
    this.outputSchema = outputSchema;
    this.condition = condition;
    this.projections = List.copyOf(projections);
    this.columns = new ResultColumns(this.projections, condition != null);
    List<TypedExpression> evaluated = new ArrayList<>(columns.computed());
    // Also without projections: the condition determines the row count.
    if (condition != null && (columns.passesAny() || evaluated.isEmpty())) {
      evaluated.add(new RowNumber());
    }
    this.ptxSources = Collections.unmodifiableSet(new LinkedHashSet<>(ptxSources));
    this.isAllComputed = evaluated.equals(this.projections);
    this.computed =
        new ComputedColumns(
            inputSchema,
            this.condition,
            List.copyOf(evaluated),
            isAllComputed ? Optional.of(outputSchema) : Optional.empty(),
            this.ptxSources);
    this.readsBatch = BatchValue.isIn(roots());
  }

  private List<TypedExpression> roots() {
    return Stream.concat(Stream.ofNullable(condition), projections.stream()).toList();
  }

  /** Takes arbitrary expressions and shares equal subexpressions. */
  static Calc sharing(
      Schema inputSchema,
      Schema outputSchema,
      TypedExpression condition,
      List<TypedExpression> projections,
      Collection<String> ptxSources) {
    ValueNumbering values = new ValueNumbering();
    return new Calc(
        inputSchema,
        outputSchema,
        condition == null ? null : values.share(condition),
        projections.stream().map(values::share).toList(),
        ptxSources);
  }

  /**
   * Creates a calc for tables of {@code inputSchema}.
   *
   * @param condition the filter; empty to keep all rows
   * @param projections output columns, named by alias, column name or SQL text
   * @throws ExpressionException if an expression does not fit the schema or two output columns have
   *     the same name
   */
  public static Calc of(
      Schema inputSchema,
      Optional<Expression> condition,
      List<Expression> projections,
      ResolutionContext context) {
    ExpressionResolver resolver = new ExpressionResolver(inputSchema, context);
    List<TypedExpression> typed = new ArrayList<>();
    List<Field> fields = new ArrayList<>();
    for (Expression projection : projections) {
      TypedExpression expression = resolver.resolve(projection);
      String name = ExpressionResolver.nameOf(projection);
      if (fields.stream().anyMatch(field -> field.name().equals(name))) {
        throw new ExpressionException("two columns are called '" + name + "'");
      }
      typed.add(expression);
      fields.add(new Field(name, expression.type(), expression.nullable()));
    }
    return new Calc(
        inputSchema,
        new Schema(fields),
        condition.map(resolver::resolveCondition).orElse(null),
        typed,
        context.functions().ptxSources());
  }

  /**
   * Creates a calc from resolved expressions.
   *
   * @param projections one per field of {@code outputSchema}, of the field's type
   * @param context the context in which they were resolved
   */
  public static Calc ofResolved(
      Schema inputSchema,
      Optional<TypedExpression> condition,
      Schema outputSchema,
      List<TypedExpression> projections,
      ResolutionContext context) {
    return sharing(
        inputSchema,
        outputSchema,
        condition.orElse(null),
        projections,
        context.functions().ptxSources());
  }

  /**
   * Fuses this calc with {@code next}, which reads its result. Projections that {@code next} does
   * not use are not computed.
   */
  public Calc andThen(Calc next) {
    Substitution substitution = new Substitution(projections);
    TypedExpression first = condition;
    TypedExpression second = next.condition == null ? null : substitution.apply(next.condition);
    if (first != null && second != null) {
      second = new TypedExpression.And(List.of(isTrue(first), second));
    }
    return sharing(
        inputSchema,
        next.outputSchema,
        second == null ? first : second,
        substitution.all(next.projections),
        Stream.concat(ptxSources.stream(), next.ptxSources.stream()).toList());
  }

  // The second condition is not evaluated if the first is null.
  private static TypedExpression isTrue(TypedExpression condition) {
    return condition.nullable()
        ? new TypedExpression.Case(
            List.of(condition),
            List.of(
                new TypedExpression.Literal(true, DataType.BOOL),
                new TypedExpression.Literal(false, DataType.BOOL)))
        : condition;
  }

  public Schema inputSchema() {
    return inputSchema;
  }

  /** The filter; empty if all rows are kept. */
  public Optional<TypedExpression> condition() {
    return Optional.ofNullable(condition);
  }

  /** One projection per output field. */
  public List<TypedExpression> projections() {
    return projections;
  }

  public Schema outputSchema() {
    return outputSchema;
  }

  /**
   * Reasons why the host evaluates parts of the calc, or all of it, even for tables on a device;
   * empty if the device evaluates all. Where the parts are calls of functions, the host gets copies
   * of the columns that they read, of the rows for which they may be needed.
   */
  public List<String> hostReasons() {
    return computed.hostReasons();
  }

  /** Whether the calc is too large for a kernel, so that the host evaluates all of it. */
  public boolean isTooLarge() {
    return computed.isTooLarge();
  }

  /**
   * Whether a device calls library functions for the calc, such as those of texts. What it computes
   * without them costs less than a copy of the columns.
   */
  public boolean callsDeviceLibrary() {
    return TypedExpression.nodes(roots()).stream().anyMatch(ConditionalExpressions::callsLibrary);
  }

  /**
   * Whether an expression needs a {@link BatchContext}, such as the time of CURRENT_TIMESTAMP.
   * Resolving such an expression needs {@link ResolutionContext#withBatch}.
   */
  public boolean readsBatch() {
    return readsBatch;
  }

  /**
   * As {@link #apply(Table, BatchContext, DeviceStream, MemoryResource)}, for a calc that does not
   * read its batch.
   *
   * @throws IllegalStateException if {@link #readsBatch}
   */
  public Table apply(Table input, DeviceStream stream, MemoryResource memory) {
    if (readsBatch) {
      throw new IllegalStateException("the calc needs the time of the batch, which is not passed");
    }
    return apply(input, NO_BATCH, stream, memory);
  }

  /**
   * Computes the result as a new table, which shares the memory of unchanged columns. The input
   * still belongs to the caller. Enqueued on {@code stream}.
   *
   * <p>Waits for the stream only if the host evaluates the table, if rows may fail or need the
   * host, if there are nested columns and a condition, or to read the size of strings, namely of a
   * slice or of a table with a column that might exceed 2 GiB. The row count of a filtered table
   * stays on the device unless rows need the host. The first call on a device uploads long lists of
   * constants into {@code memory}, waits for the upload, and keeps them there until the calc is
   * closed.
   *
   * <p>While the host evaluates parts for a device, other threads may have the calling thread's
   * permit of a {@link io.millrace.memory.retry.GpuSemaphore}.
   *
   * @param batch what the expressions may ask for besides the columns
   * @throws EvaluationException for the first row that fails
   * @throws io.millrace.device.GpuOutOfMemoryException if memory for the result runs out or a
   *     column might exceed 2 GiB of bytes; retrying with halves of the table may succeed
   */
  public Table apply(Table input, BatchContext batch, DeviceStream stream, MemoryResource memory) {
    Table result = computed.evaluate(input, batch, stream, memory);
    if (isAllComputed) {
      return result;
    }
    try (result) {
      if (projections.isEmpty()) {
        return result.withColumns(outputSchema, List.of());
      }
      return condition != null && columns.passesAny()
          ? assembleGathered(input, result, stream, memory)
          : assemble(input, result);
    }
  }

  /**
   * Returns a calc for tables with an additional last column, which is passed through as the last
   * output column. It holds its own kernels.
   *
   * @throws IllegalArgumentException if a column has the same name
   */
  public Calc withLastColumn(Field column) {
    TypedExpression reference =
        new TypedExpression.InputReference(
            inputSchema.size(), column.name(), column.type(), column.nullable());
    return sharing(
        with(inputSchema, column),
        with(outputSchema, column),
        condition,
        Stream.concat(projections.stream(), Stream.of(reference)).toList(),
        ptxSources);
  }

  private static Schema with(Schema schema, Field column) {
    return new Schema(Stream.concat(schema.fields().stream(), Stream.of(column)).toList());
  }

  /** Returns an equal calc that holds its own kernels. */
  public Calc share() {
    return new Calc(inputSchema, outputSchema, condition, projections, ptxSources);
  }

  /**
   * Releases the compiled kernels, which may then be unloaded, and the memory of constants. All
   * uses on a device must have completed there. A calc that is never closed keeps them; a calc that
   * never ran on a device has none. Data kept for the host consists of Java objects.
   */
  @Override
  public void close() {
    computed.close();
  }

  /** The columns that are computed. */
  ComputedColumns computed() {
    return computed;
  }

  /** The program of the generated kernel; requires empty {@link #hostReasons}. */
  CalcProgram program() {
    return computed.program();
  }

  /**
   * Assembles the result of a calc without condition, or without columns of the input. The row
   * count stays deferred unless the host knows it.
   */
  private Table assemble(Table input, Table computedColumns) {
    boolean isDeferred = computedColumns.deviceRowCount().isPresent();
    List<Column> inputColumns = isDeferred ? input.upperBoundColumns() : input.columns();
    int rows = isDeferred ? input.rowCountUpperBound() : input.rowCount();
    try (Table passed = columns.passed(inputColumns, rows)) {
      return computedColumns.withColumns(
          outputSchema, columns.assemble(computedColumns.upperBoundColumns(), passed.columns()));
    }
  }

  private Table assembleGathered(
      Table input, Table result, DeviceStream stream, MemoryResource memory) {
    Column map = result.column(computed.expressions().size() - 1);
    try (Table passed = columns.passed(input.upperBoundColumns(), input.rowCountUpperBound());
        Table gathered = Gather.gather(passed, map, stream, memory)) {
      return new Table(
          outputSchema, columns.assemble(result.columns(), gathered.columns()), result.rowCount());
    }
  }
}
