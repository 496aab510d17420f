// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.device.GpuException;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.ValueKind;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * A user-defined function, called by its name. It is not called for rows with a null argument;
 * their result is null, unless it {@link Builder#takesNulls}. Immutable; serialized with the job.
 */
@PublicEvolving
public final class UserDefinedFunction implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final List<DataType> arguments;
  private final DataType result;
  private final BoundFunction.Outcome outcome;
  private final ColumnFunction host;
  private final boolean takesNulls;
  private final String hostReason;
  private final String deviceFunction;
  private final String ptx;

  private UserDefinedFunction(Builder builder, ColumnFunction host) {
    this.name = builder.name;
    this.arguments = builder.arguments;
    this.result = Objects.requireNonNull(builder.result, "the result's type is missing");
    if (builder.deviceFunction != null && ValueKind.of(result) == ValueKind.BYTES) {
      throw new IllegalArgumentException(
          "expected a fixed-width result for the device function of " + name + ", got " + result);
    }
    this.outcome = builder.outcome;
    if (builder.deviceFunction != null && builder.takesNulls) {
      throw new IllegalArgumentException(name + " takes nulls, which device functions do not");
    }
    this.host = host;
    this.takesNulls = builder.takesNulls;
    this.hostReason = builder.hostReason;
    this.deviceFunction = builder.deviceFunction;
    this.ptx = builder.ptx;
  }

  /** The name in upper case. */
  public String name() {
    return name;
  }

  /** The PTX of the device function and everything that it calls; empty if there is none. */
  public String ptx() {
    return ptx;
  }

  /** The function that the host evaluates. */
  public ColumnFunction columnFunction() {
    return host;
  }

  /** The definition that the resolver uses. */
  FunctionDefinition definition() {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.USER_DEFINED)
        .signatures(Signature.of(arguments.toArray(DataType[]::new)))
        .description("A user-defined function.")
        .bind(this::bind);
  }

  private TypedExpression bind(List<TypedExpression> given, BindingContext context) {
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
    // A calc fused from steps with different settings may contain another function of the same
    // name.
    BoundFunction.Builder bound = BoundFunction.named(name).parameters(this).host(this::evaluate);
    if (deviceFunction == null) {
      bound.hostOnly(hostReason);
    } else {
      bound.device(deviceFunction);
    }
    if (takesNulls) {
      bound.takesNulls();
    }
    return switch (outcome) {
      case VALUE -> bound.call(operands, result);
      case NULLABLE -> bound.nullable().call(operands, result);
      case FAILING -> bound.failing().call(operands, result, true);
    };
  }

  private void evaluate(HostVector[] operands, HostVector result, Rows rows) {
    try {
      host.evaluate(operands, result, rows);
    } catch (GpuException e) {
      throw e;
    } catch (RuntimeException e) {
      evaluateEach(operands, result, rows);
    }
  }

  /** Calls the function for each row alone, to find the rows for which it throws. */
  private void evaluateEach(HostVector[] operands, HostVector result, Rows rows) {
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      try {
        host.evaluate(operands, result, rows.of(new int[] {row}, 1));
      } catch (GpuException e) {
        throw e;
      } catch (RuntimeException e) {
        rows.fail(row, e);
      }
    }
  }

  @Override
  public String toString() {
    return name + arguments + " " + result;
  }

  /** Starts a definition. */
  public static Builder named(String name) {
    return new Builder(name.toUpperCase(Locale.ROOT));
  }

  /** Builds a function. */
  public static final class Builder {
    private final String name;
    private List<DataType> arguments = List.of();
    private DataType result;
    private BoundFunction.Outcome outcome = BoundFunction.Outcome.VALUE;
    private boolean takesNulls;
    private String hostReason = "plain Java of the user";
    private String deviceFunction;
    private String ptx = "";

    private Builder(String name) {
      this.name = name;
    }

    /** Sets the argument types; narrower types are cast implicitly. */
    public Builder arguments(DataType... types) {
      this.arguments = List.of(types);
      return this;
    }

    public Builder returns(DataType type) {
      this.result = type;
      return this;
    }

    /** The function may return null for non-null arguments. */
    public Builder nullable() {
      this.outcome = BoundFunction.Outcome.NULLABLE;
      return this;
    }

    /** The function may return null, or fail for a row, which fails the job. */
    public Builder failing() {
      this.outcome = BoundFunction.Outcome.FAILING;
      return this;
    }

    /**
     * The function is also called for rows with null arguments. Such a function has no device
     * implementation.
     */
    public Builder takesNulls() {
      this.takesNulls = true;
      return this;
    }

    /** Says why there is no device implementation. */
    public Builder hostOnly(String reason) {
      this.hostReason = reason;
      return this;
    }

    /**
     * Sets the device implementation: PTX compiled ahead of time from CUDA C++, for example by
     * {@code nvcc -ptx -rdc=true -arch=compute_80 -fmad=false}. It follows the calling convention
     * of {@code cuda/function/function.cuh}: {@code extern "C" __device__}, one parameter per
     * number, and an {@code Outcome} result if the function may return null or fail. Its results
     * must have the same bits as those of the Java implementation. Not available for STRING and
     * BINARY results.
     *
     * @param function name of the function in the PTX; must not be the name of a library function
     * @param source PTX of the function and everything that it calls
     * @throws IllegalArgumentException if the PTX does not contain the function
     */
    public Builder device(String function, String source) {
      if (!source.contains(function)) {
        throw new IllegalArgumentException("the PTX has no function " + function);
      }
      this.deviceFunction = function;
      this.ptx = source;
      return this;
    }

    /**
     * Sets the Java implementation, which runs on hosts without a GPU and defines the results of
     * the device implementation.
     */
    public UserDefinedFunction as(ColumnFunction function) {
      return new UserDefinedFunction(this, Objects.requireNonNull(function, "function is null"));
    }
  }
}
