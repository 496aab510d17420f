package io.millrace.expression;

import io.millrace.column.DataType;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * A user's function, which expressions call by its name. A null argument gives null without asking
 * it. Immutable; serialized with the job.
 */
public final class UserDefinedFunction implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final List<DataType> arguments;
  private final DataType result;
  private final BoundFunction.Outcome outcome;
  private final ColumnFunction host;

  private UserDefinedFunction(Builder builder, ColumnFunction host) {
    this.name = builder.name;
    this.arguments = builder.arguments;
    this.result = Objects.requireNonNull(builder.result, "the result's type is missing");
    this.outcome = builder.outcome;
    this.host = host;
  }

  /** The name, upper case. */
  public String name() {
    return name;
  }

  /** The function as expressions are resolved with it. */
  FunctionDefinition definition() {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.USER_DEFINED)
        .signatures(Signature.of(arguments.toArray(DataType[]::new)))
        .description("A user's function.")
        .bind(this::bind);
  }

  private TypedExpression bind(List<TypedExpression> given, ResolutionContext context) {
    Arguments.count(given, arguments.size(), arguments.size());
    List<TypedExpression> operands = new ArrayList<>();
    for (int i = 0; i < given.size(); i++) {
      TypedExpression argument = given.get(i);
      boolean fits =
          Arguments.isNullLiteral(argument)
              || Coercion.common(argument.type(), arguments.get(i)).equals(arguments.get(i));
      if (!fits) {
        throw Arguments.wrongType(argument);
      }
      operands.add(Coercion.cast(argument, arguments.get(i), context));
    }
    BoundFunction.Builder bound =
        BoundFunction.named(name).host(host).hostOnly("it is plain Java of the user");
    return switch (outcome) {
      case VALUE -> bound.call(operands, result);
      case NULLABLE -> bound.nullable().call(operands, result);
      case FAILING -> bound.failing().call(operands, result, true);
    };
  }

  @Override
  public String toString() {
    return name + arguments + " " + result;
  }

  /** Starts a function. */
  public static Builder named(String name) {
    return new Builder(name.toUpperCase(Locale.ROOT));
  }

  /** Sets the parts of a function. */
  public static final class Builder {
    private final String name;
    private List<DataType> arguments = List.of();
    private DataType result;
    private BoundFunction.Outcome outcome = BoundFunction.Outcome.VALUE;

    private Builder(String name) {
      this.name = name;
    }

    /** The arguments' types; narrower ones are cast to them. */
    public Builder arguments(DataType... types) {
      this.arguments = List.of(types);
      return this;
    }

    public Builder returns(DataType type) {
      this.result = type;
      return this;
    }

    /** The function may give null for arguments that are not null. */
    public Builder nullable() {
      this.outcome = BoundFunction.Outcome.NULLABLE;
      return this;
    }

    /** The function may give null, or fail for a row, which fails the job. */
    public Builder failing() {
      this.outcome = BoundFunction.Outcome.FAILING;
      return this;
    }

    /** The function in plain Java. */
    public UserDefinedFunction as(ColumnFunction function) {
      return new UserDefinedFunction(this, Objects.requireNonNull(function, "function is null"));
    }
  }
}
