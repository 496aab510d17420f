package io.millrace.expression;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessScope;
import io.millrace.memory.HostMemoryResource;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A filter and projections in one: table in, table out. The rows for which the condition is true,
 * in their order, each with the values of the projections. Immutable and thread-safe.
 */
public final class Calc {
  private final Schema inputSchema;
  private final Schema outputSchema;
  private final TypedExpression condition;
  private final List<TypedExpression> projections;

  private Calc(
      Schema inputSchema,
      Schema outputSchema,
      TypedExpression condition,
      List<TypedExpression> projections) {
    this.inputSchema = inputSchema;
    this.outputSchema = outputSchema;
    this.condition = condition;
    this.projections = projections;
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
        List.copyOf(typed));
  }

  /**
   * A calc of expressions that are resolved.
   *
   * @param projections one a field of {@code outputSchema}, of its type
   */
  public static Calc ofResolved(
      Schema inputSchema,
      Optional<TypedExpression> condition,
      Schema outputSchema,
      List<TypedExpression> projections) {
    return new Calc(inputSchema, outputSchema, condition.orElse(null), List.copyOf(projections));
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
    return new Calc(
        inputSchema,
        next.outputSchema,
        second == null ? first : second,
        substitution.all(next.projections));
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

  /**
   * The calc's result as a new table. The input stays the caller's.
   *
   * @throws EvaluationException for the first row that fails
   */
  public Table apply(Table input, DeviceStream stream, MemoryResource memory) {
    if (stream.device().kind() == DeviceKind.HOST) {
      return applyOnHost(input, stream, memory);
    }
    MemoryResource hostMemory = HostMemoryResource.INSTANCE;
    try (DeviceStream hostStream = hostMemory.device().createStream();
        Table copy = input.copyTo(hostMemory, hostStream, stream)) {
      stream.synchronize();
      try (Table result = applyOnHost(copy, hostStream, hostMemory)) {
        Table output = result.copyTo(memory, stream, stream);
        stream.synchronize();
        return output;
      }
    }
  }

  private Table applyOnHost(Table input, DeviceStream stream, MemoryResource memory) {
    try (AccessScope scope = AccessScope.on(stream)) {
      return HostEvaluator.evaluate(input, condition, projections, outputSchema, scope, memory);
    }
  }
}
