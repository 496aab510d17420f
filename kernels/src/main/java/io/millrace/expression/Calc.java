package io.millrace.expression;

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

  public Schema inputSchema() {
    return inputSchema;
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
