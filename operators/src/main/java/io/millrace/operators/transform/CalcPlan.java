// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.calc.Calc;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.sample.RowSample;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.row.RowKindColumn;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.annotation.Internal;
import org.apache.flink.types.RowKind;

/**
 * Consecutive filters and projections that make one {@link Calc}: each step is resolved against the
 * output of the step before and merged with it. Immutable; serialized with the job as unresolved
 * expressions.
 *
 * <p>The kind of a changelog's row, its {@link RowKindColumn}, stays with the row: expressions may
 * read it, but no step drops or replaces it or puts another column behind it.
 */
@Internal
public final class CalcPlan implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final Expression KIND = Expressions.col(RowKindColumn.NAME);

  private final Schema inputSchema;
  private final ExpressionSettings settings;
  private final List<Step> steps;
  private transient Calc calc;

  private sealed interface Step extends Serializable {
    /**
     * @param number of the step
     */
    Calc resolve(Schema schema, int number);

    /** The functions of users that its expressions may call. */
    default List<UserDefinedFunction> functions() {
      return List.of();
    }
  }

  private record Filter(Expression condition, ExpressionSettings settings) implements Step {
    private static final long serialVersionUID = 1L;

    @Override
    public Calc resolve(Schema schema, int number) {
      return Calc.of(
          schema, Optional.of(condition), columns(schema), settings.context().withBatch(number));
    }

    @Override
    public List<UserDefinedFunction> functions() {
      return settings.functions();
    }
  }

  private record Projection(List<Expression> columns, ExpressionSettings settings) implements Step {
    private static final long serialVersionUID = 1L;

    @Override
    public Calc resolve(Schema schema, int number) {
      ResolutionContext context = settings.context().withBatch(number);
      Calc calc = Calc.of(schema, Optional.empty(), columns, context);
      checkNoKind(calc.outputSchema().names());
      checkNoEventTime(calc.outputSchema().names());
      return RowKindColumn.isIn(schema)
          ? Calc.of(schema, Optional.empty(), and(columns, KIND), context)
          : calc;
    }

    @Override
    public List<UserDefinedFunction> functions() {
      return settings.functions();
    }
  }

  private record ToChangelog(String operationColumn) implements Step {
    private static final long serialVersionUID = 1L;

    @Override
    public Calc resolve(Schema schema, int number) {
      List<Expression> columns = new ArrayList<>();
      columns.add(operation().as(operationColumn));
      rowSchema(schema).names().forEach(name -> columns.add(Expressions.col(name)));
      return Calc.of(schema, Optional.empty(), columns, ResolutionContext.DEFAULT);
    }

    private static Expression operation() {
      List<Expression> conditions = new ArrayList<>();
      List<Expression> names = new ArrayList<>();
      for (RowKind value : RowKind.values()) {
        conditions.add(KIND.eq(value.toByteValue()));
        names.add(Expressions.lit(value.name()));
      }
      conditions.remove(conditions.size() - 1);
      return new Expression.Case(conditions, names);
    }
  }

  private record RowKinds() implements Step {
    private static final long serialVersionUID = 1L;

    @Override
    public Calc resolve(Schema schema, int number) {
      Expression kind = Expressions.lit(RowKind.INSERT.toByteValue()).as(RowKindColumn.NAME);
      return Calc.of(
          schema, Optional.empty(), and(columns(schema), kind), ResolutionContext.DEFAULT);
    }
  }

  private record Sample(double fraction, long seed) implements Step {
    private static final long serialVersionUID = 1L;

    @Override
    public Calc resolve(Schema schema, int number) {
      return Calc.ofResolved(
          schema,
          Optional.of(RowSample.condition(rowSchema(schema), fraction, seed)),
          schema,
          identity(schema).projections(),
          ResolutionContext.DEFAULT);
    }
  }

  private record Retyping(Schema outputSchema) implements Step {
    private static final long serialVersionUID = 1L;

    @Override
    public Calc resolve(Schema schema, int number) {
      return Calc.ofResolved(
          schema,
          Optional.empty(),
          outputSchema,
          identity(schema).projections(),
          ResolutionContext.DEFAULT);
    }
  }

  private CalcPlan(Schema inputSchema, ExpressionSettings settings, List<Step> steps, Calc calc) {
    this.inputSchema = inputSchema;
    this.settings = settings;
    this.steps = List.copyOf(steps);
    this.calc = calc;
  }

  /** The identity on tables of {@code schema}. */
  public static CalcPlan of(Schema schema, ExpressionSettings settings) {
    return new CalcPlan(schema, settings, List.of(), identity(schema));
  }

  private static Calc identity(Schema schema) {
    return Calc.of(schema, Optional.empty(), columns(schema), ResolutionContext.DEFAULT);
  }

  private static List<Expression> and(List<Expression> columns, Expression last) {
    return Stream.concat(columns.stream(), Stream.of(last)).toList();
  }

  private static List<Expression> columns(Schema schema) {
    return schema.names().stream().map(Expressions::col).toList();
  }

  private static Schema rowSchema(Schema schema) {
    return new Schema(RowKindColumn.rowFields(schema));
  }

  private static void checkNoKind(Collection<String> names) {
    if (names.contains(RowKindColumn.NAME)) {
      throw new ExpressionException(
          "'"
              + RowKindColumn.NAME
              + "' is the kind of each row, which stays with it: it cannot be dropped or replaced,"
              + " and no other column can have its name");
    }
  }

  private static void checkNoEventTime(Collection<String> names) {
    if (names.contains(EventTimeColumn.NAME)) {
      throw new ExpressionException(
          "the column name '"
              + EventTimeColumn.NAME
              + "' is reserved for the event times that rows keep in batches; use another name");
    }
  }

  /** Resolves later expressions with {@code newSettings}. */
  public CalcPlan withSettings(ExpressionSettings newSettings) {
    return new CalcPlan(inputSchema, newSettings, steps, calc);
  }

  /**
   * The output column with this name.
   *
   * @throws ExpressionException if it does not exist, with the most similar name
   */
  public Field field(String name) {
    new ExpressionResolver(outputSchema(), settings.context()).resolve(Expressions.col(name));
    return outputSchema().field(outputSchema().indexOf(name));
  }

  /** Whether nothing is filtered or projected. */
  public boolean isIdentity() {
    return steps.isEmpty();
  }

  /** Whether an expression fails for some values, such as a cast of any text. */
  public boolean canFail() {
    return nodes().stream()
        .anyMatch(
            node ->
                node instanceof TypedExpression.Call call
                    && call.function().outcome() == BoundFunction.Outcome.FAILING);
  }

  /** The input columns that expressions read, in the order of the input. */
  public List<String> columnsRead() {
    Set<TypedExpression> nodes = nodes();
    return inputSchema.names().stream()
        .filter(
            name ->
                nodes.stream()
                    .anyMatch(
                        node ->
                            node instanceof TypedExpression.InputReference column
                                && column.name().equals(name)))
        .toList();
  }

  private Set<TypedExpression> nodes() {
    List<TypedExpression> evaluated = new ArrayList<>(calc.projections());
    calc.condition().ifPresent(evaluated::add);
    return TypedExpression.nodes(evaluated);
  }

  public Schema outputSchema() {
    return calc.outputSchema();
  }

  /**
   * Keeps the rows for which {@code condition} is true.
   *
   * @throws ExpressionException if the condition does not fit the columns or is not BOOLEAN
   */
  public CalcPlan filter(Expression condition) {
    return with(new Filter(condition, settings));
  }

  /**
   * Projects the rows to {@code projections}, each named by its alias, column or text, and keeps
   * the row kind.
   *
   * @throws ExpressionException if a projection does not fit the columns, two have the same name,
   *     one has the name of the row kind or of the {@link EventTimeColumn}, or the list is empty
   */
  public CalcPlan select(List<Expression> projections) {
    if (projections.isEmpty()) {
      throw new ExpressionException("nothing is selected");
    }
    return with(new Projection(List.copyOf(projections), settings));
  }

  /**
   * Adds a column, or replaces the column with this name.
   *
   * @throws ExpressionException if the expression does not fit the columns, or the name is reserved
   *     for the row kind or the {@link EventTimeColumn}
   */
  public CalcPlan withColumn(String name, Expression value) {
    List<String> names = rowSchema(outputSchema()).names();
    List<Expression> columns = new ArrayList<>();
    for (String column : names) {
      columns.add(column.equals(name) ? value.as(name) : Expressions.col(column));
    }
    if (!names.contains(name)) {
      columns.add(value.as(name));
    }
    return select(columns);
  }

  /**
   * Drops these columns.
   *
   * @throws ExpressionException if a column does not exist or is the row kind, or no column is left
   */
  public CalcPlan drop(List<String> names) {
    names.forEach(this::field);
    checkNoKind(names);
    Set<String> dropped = Set.copyOf(names);
    return select(
        rowSchema(outputSchema()).names().stream()
            .filter(name -> !dropped.contains(name))
            .map(Expressions::col)
            .toList());
  }

  /**
   * Keeps the rows that {@link RowSample} chooses by all columns except the row kind: a row and its
   * retraction are both kept or both dropped.
   *
   * @throws ExpressionException if the fraction is not from 0 to 1 or no column can be hashed
   */
  public CalcPlan sample(double fraction, long seed) {
    return with(new Sample(fraction, seed));
  }

  /**
   * The changes of a changelog as rows that are only inserted: Flink SQL's {@code TO_CHANGELOG}.
   *
   * @param operationColumn the first column of the result: the name of the row's {@link RowKind}
   * @throws ExpressionException if the rows have no kinds, or a column has this name
   */
  public CalcPlan toChangelog(String operationColumn) {
    return with(new ToChangelog(operationColumn));
  }

  /** The same rows as a changelog: of insertions, if they have no kinds yet. */
  public CalcPlan withRowKinds() {
    return RowKindColumn.isIn(outputSchema()) ? this : with(new RowKinds());
  }

  /**
   * The same rows with another schema, in which more columns may be nullable.
   *
   * @return this plan if it has this schema
   */
  public CalcPlan as(Schema schema) {
    return schema.equals(outputSchema()) ? this : with(new Retyping(schema));
  }

  private CalcPlan with(Step step) {
    List<Step> all = new ArrayList<>(steps);
    all.add(step);
    Calc resolved = step.resolve(outputSchema(), steps.size());
    Calc fused = calc.andThen(resolved);
    return new CalcPlan(inputSchema, settings, all, fused);
  }

  /** All filters and projections as one calc. */
  public Calc calc() {
    return calc;
  }

  /**
   * A factory of transforms that apply all filters and projections. Rows keep their event times,
   * which expressions cannot read.
   */
  public TableTransform.Factory transforms() {
    return context ->
        new CalcTransform(
            calc.share(), calc.withLastColumn(EventTimeColumn.FIELD), richFunctions(), context);
  }

  private List<RichColumnFunction> richFunctions() {
    return steps.stream()
        .flatMap(step -> step.functions().stream())
        .map(UserDefinedFunction::columnFunction)
        .filter(RichColumnFunction.class::isInstance)
        .map(RichColumnFunction.class::cast)
        .distinct()
        .toList();
  }

  private void readObject(ObjectInputStream stream) throws IOException, ClassNotFoundException {
    stream.defaultReadObject();
    calc = identity(inputSchema);
    for (int i = 0; i < steps.size(); i++) {
      calc = calc.andThen(steps.get(i).resolve(calc.outputSchema(), i));
    }
  }
}
