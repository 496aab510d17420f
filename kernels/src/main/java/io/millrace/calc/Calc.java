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
import io.millrace.expression.typed.Substitution;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.ValueNumbering;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A filter and projections in one: table in, table out. The rows for which the condition is true,
 * in their order, each with the values of the projections. Immutable and thread-safe. Whoever
 * applies it on a device closes it.
 */
@PublicEvolving
public final class Calc implements AutoCloseable {
  private final Schema inputSchema;
  private final Schema outputSchema;
  private final TypedExpression condition;
  private final List<TypedExpression> projections;
  private final Set<String> ptxSources;
  // The other projections are columns of the input, as they are or gathered.
  private final ComputedColumns computed;
  private final boolean isAllComputed;

  /** Of expressions, equal ones of which are one object. */
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
    List<TypedExpression> evaluated = new ArrayList<>(this.projections);
    evaluated.removeIf(projection -> !isComputed(projection));
    // Also where nothing is projected: the condition decides how many rows there are.
    boolean passesColumns = evaluated.size() < projections.size();
    if (condition != null && (passesColumns || evaluated.isEmpty())) {
      evaluated.add(new TypedExpression.RowNumber());
    }
    this.ptxSources = Collections.unmodifiableSet(new LinkedHashSet<>(ptxSources));
    this.isAllComputed = evaluated.equals(this.projections);
    this.computed =
        new ComputedColumns(
            this.condition,
            List.copyOf(evaluated),
            isAllComputed ? Optional.of(outputSchema) : Optional.empty(),
            this.ptxSources);
  }

  /** Of expressions from anywhere. */
  private static Calc sharing(
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

  /** Whether a projection is more than a column of the input that stays whole, or is nested. */
  private boolean isComputed(TypedExpression projection) {
    return !(projection instanceof TypedExpression.InputReference)
        || (condition != null && projection.type().id().isScalar());
  }

  /**
   * A calc over tables of {@code inputSchema}.
   *
   * @param condition what rows must be true for; empty for all
   * @param projections the output's columns; their names are their aliases, columns or texts
   * @throws ExpressionException if an expression does not fit the schema or two columns get one
   *     name
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
   * A calc of expressions that are resolved.
   *
   * @param projections one a field of {@code outputSchema}, of its type
   * @param context what they were resolved in
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
   * One calc that gives what {@code next} gives of this one's result. Of this one's projections
   * only those are computed that {@code next} uses.
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

  // The second condition is not evaluated where the first is null.
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

  /** What rows must be true for; empty for all. */
  public Optional<TypedExpression> condition() {
    return Optional.ofNullable(condition);
  }

  /** One a field of the output. */
  public List<TypedExpression> projections() {
    return projections;
  }

  public Schema outputSchema() {
    return outputSchema;
  }

  /** Why the calc is evaluated on the host even for tables on a device; empty if it is not. */
  public List<String> hostReasons() {
    return computed.hostReasons();
  }

  /**
   * The calc's result as a new table, which shares the memory of columns that stay as they are. The
   * input stays the caller's. Enqueued on {@code stream}. Waits only for a table that the host must
   * evaluate, for rows that may fail or need the host, for nested columns with a condition, and for
   * how many bytes the strings of a slice have, or those of a table of which a column might get
   * over 2 GiB; the row count of a table with a condition stays on the device, unless rows need the
   * host. Long lists of constants are uploaded by the first call on a device, which waits for it,
   * into {@code memory}, where they stay until the calc is closed.
   *
   * @throws EvaluationException for the first row that fails
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no memory for the result, or if
   *     a column of it might get over 2 GiB of bytes: halves of the table may do
   */
  public Table apply(Table input, DeviceStream stream, MemoryResource memory) {
    Table result = computed.evaluate(input, stream, memory);
    if (isAllComputed) {
      return result;
    }
    try (result) {
      if (projections.isEmpty()) {
        return result.withColumns(outputSchema, List.of());
      }
      return condition == null
          ? assemble(input, result)
          : assembleGathered(input, result, stream, memory);
    }
  }

  /**
   * The same calc of tables that have one column more, behind theirs. It is behind the projections
   * too, as it is. Holds kernels on its own.
   *
   * @throws IllegalArgumentException if a column has its name
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

  /** The same calc, which holds kernels on its own. */
  public Calc share() {
    return new Calc(inputSchema, outputSchema, condition, projections, ptxSources);
  }

  /**
   * Gives back the compiled kernels of this calc, which may be unloaded then, and the memory of its
   * constants: all that it was applied to must be done on the device. A calc that is not closed
   * keeps them for good; one that was never applied on a device has none. What it keeps for the
   * host are Java objects.
   */
  @Override
  public void close() {
    computed.close();
  }

  /** What is evaluated. */
  ComputedColumns computed() {
    return computed;
  }

  /** The generated kernel's program, for which {@link #hostReasons} is empty. */
  CalcProgram program() {
    return computed.program();
  }

  /** The result of a calc without condition: of a deferred row count too, unless the host knows. */
  private Table assemble(Table input, Table computedColumns) {
    boolean isDeferred = computedColumns.deviceRowCount().isPresent();
    List<Column> inputColumns = isDeferred ? input.upperBoundColumns() : input.columns();
    return computedColumns.withColumns(
        outputSchema, outputColumns(computedColumns.upperBoundColumns(), inputColumns));
  }

  /** The computed columns, and between them columns of the input. */
  private List<Column> outputColumns(List<Column> computedColumns, List<Column> inputColumns) {
    List<Column> columns = new ArrayList<>();
    Iterator<Column> nextComputed = computedColumns.iterator();
    try {
      for (TypedExpression projection : projections) {
        Column column =
            isComputed(projection)
                ? nextComputed.next()
                : inputColumns.get(((TypedExpression.InputReference) projection).index());
        columns.add(column.share());
      }
      return columns;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      columns.forEach(column -> failure.run(column::close));
      throw e;
    }
  }

  private Table assembleGathered(
      Table input, Table result, DeviceStream stream, MemoryResource memory) {
    Column map = result.column(computed.expressions().size() - 1);
    List<String> names =
        projections.stream()
            .filter(projection -> !isComputed(projection))
            .map(
                projection ->
                    inputSchema.field(((TypedExpression.InputReference) projection).index()).name())
            .distinct()
            .toList();
    try (Table nested = input.select(names);
        Table gathered = Gather.gather(nested, map, stream, memory)) {
      List<Column> inputColumns = new ArrayList<>(input.upperBoundColumns());
      for (String name : names) {
        inputColumns.set(inputSchema.indexOf(name), gathered.column(name));
      }
      List<Column> columns = outputColumns(result.columns(), inputColumns);
      return new Table(outputSchema, columns, result.rowCount());
    }
  }
}
