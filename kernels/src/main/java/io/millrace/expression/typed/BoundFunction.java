// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.vector.HostFunction;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * A function bound to the types of its operands, with a host and a device implementation that
 * return the same bits. It is strict unless {@link #takesNulls}: if an operand is null, the result
 * is null and the function is not called.
 *
 * <p>Two instances are equal if their names and parameters are equal; with operands of equal types
 * they then compute the same results.
 */
@PublicEvolving
public final class BoundFunction {
  /** Possible results for non-null operands. */
  public enum Outcome {
    /** Always a value. */
    VALUE,
    /** A value or null. */
    NULLABLE,
    /** A value, null, or a failure of the row. */
    FAILING
  }

  private final String name;
  private final List<Object> parameters;
  private final Outcome outcome;
  private final HostFunction host;
  private final DeviceFunction device;
  private final String hostReason;
  private final ResultSizeLimit bound;
  private final boolean usesScratch;
  private final boolean takesNulls;
  private final Function<List<String>, String> sql;

  private BoundFunction(Builder builder) {
    this.name = builder.name;
    this.parameters = builder.parameters;
    this.outcome = builder.outcome;
    this.host = Objects.requireNonNull(builder.host, builder.name + " has no host function");
    this.device = builder.device;
    this.hostReason = builder.hostReason;
    this.bound = builder.bound;
    this.usesScratch = builder.usesScratch;
    this.takesNulls = builder.takesNulls;
    this.sql = builder.sql;
    if (device == null && hostReason == null) {
      throw new IllegalArgumentException(name + " has neither a device function nor a reason");
    }
    if (takesNulls && device != null) {
      throw new IllegalArgumentException(name + " takes nulls, which device functions do not");
    }
  }

  /** The SQL name. */
  public String name() {
    return name;
  }

  /**
   * Values that the binding derived from literal arguments, such as a pattern; part of the
   * identity.
   */
  public List<Object> parameters() {
    return parameters;
  }

  public Outcome outcome() {
    return outcome;
  }

  public HostFunction host() {
    return host;
  }

  /** The device implementation. If it is empty, {@link #hostReason} explains why. */
  public Optional<DeviceFunction> device() {
    return Optional.ofNullable(device);
  }

  public String hostReason() {
    return hostReason;
  }

  /** The maximum size of a STRING or BINARY result, as a function of the operand lengths. */
  public ResultSizeLimit resultSizeLimit() {
    return bound;
  }

  /**
   * Whether the device function writes its result to {@link #resultSizeLimit} bytes of scratch
   * memory.
   */
  public boolean usesScratch() {
    return usesScratch;
  }

  /** Whether the host function is also called for rows in which operands are null. */
  public boolean takesNulls() {
    return takesNulls;
  }

  /**
   * Identifies the function's part of a generated kernel, given its types. The identity refers to
   * no object of a job, unless a job supplies its own instructions, which equal no others.
   */
  public Object kernelIdentity() {
    if (device instanceof DeviceFunction.LibraryFunction library) {
      return List.of(library.kernelIdentity(), outcome, usesScratch, bound);
    }
    Class<?> instructions = device.getClass();
    boolean isBuiltIn = instructions.getClassLoader() == BoundFunction.class.getClassLoader();
    return isBuiltIn ? List.of(instructions, name, parameters, bound) : new Object();
  }

  String toSql(List<String> operands) {
    return sql.apply(operands);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BoundFunction that
        && name.equals(that.name)
        && parameters.equals(that.parameters);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, parameters);
  }

  @Override
  public String toString() {
    return parameters.isEmpty() ? name : name + parameters;
  }

  /** Starts a binding of the function {@code name}. */
  public static Builder named(String name) {
    return new Builder(name);
  }

  /** Builds a bound function and its call. */
  public static final class Builder {
    private final String name;
    private List<Object> parameters = List.of();
    private Outcome outcome = Outcome.VALUE;
    private HostFunction host;
    private DeviceFunction device;
    private String hostReason;
    private ResultSizeLimit bound = ResultSizeLimit.NONE;
    private boolean usesScratch;
    private boolean takesNulls;
    private Function<List<String>, String> sql;

    private Builder(String name) {
      this.name = name;
      this.sql = operands -> name + "(" + String.join(", ", operands) + ")";
    }

    /** Sets the values derived from literals or types. They need equals and toString. */
    public Builder parameters(Object... values) {
      this.parameters = List.of(values);
      return this;
    }

    /** The result may be null. The device function returns an {@code Outcome}. */
    public Builder nullable() {
      this.outcome = Outcome.NULLABLE;
      return this;
    }

    /**
     * Rows may fail, or the device function may leave them to the host. It returns an {@code
     * Outcome}. The result is as nullable as the operands, unless {@link #call(List, DataType,
     * boolean)} says otherwise.
     */
    public Builder failing() {
      this.outcome = Outcome.FAILING;
      return this;
    }

    /**
     * The host function is also called for rows in which operands are null. Only for functions
     * without a device function.
     */
    public Builder takesNulls() {
      this.takesNulls = true;
      return this;
    }

    public Builder host(HostFunction function) {
      this.host = function;
      return this;
    }

    public Builder device(DeviceFunction function) {
      this.device = function;
      return this;
    }

    /** Sets a function of the device function library by name. */
    public Builder device(String libraryFunction) {
      return device(DeviceFunction.call(libraryFunction));
    }

    /**
     * Declares that there is no device function. The reason is a phrase such as "Unicode case
     * mapping".
     */
    public Builder hostOnly(String reason) {
      this.hostReason = reason;
      return this;
    }

    /** Sets the size limit of a STRING or BINARY result that is a part of an operand. */
    public Builder within(ResultSizeLimit resultBound) {
      this.bound = resultBound;
      return this;
    }

    /**
     * Sets the size limit of a STRING or BINARY result that the device function writes to scratch
     * memory.
     */
    public Builder scratch(ResultSizeLimit resultBound) {
      this.bound = resultBound;
      this.usesScratch = true;
      return this;
    }

    /**
     * Sets how the call is written, given the texts of its operands. Default: {@code NAME(a, b)}.
     */
    public Builder sql(Function<List<String>, String> text) {
      this.sql = text;
      return this;
    }

    /** Creates the call; nullable if an operand or the outcome is nullable. */
    public TypedExpression.Call call(List<TypedExpression> operands, DataType type) {
      boolean nullable = outcome == Outcome.NULLABLE;
      for (TypedExpression operand : operands) {
        nullable |= operand.nullable();
      }
      return call(operands, type, nullable);
    }

    /**
     * Creates the call with explicit nullability, since a FAILING function may also return null.
     */
    public TypedExpression.Call call(
        List<TypedExpression> operands, DataType type, boolean nullable) {
      return new TypedExpression.Call(new BoundFunction(this), operands, type, nullable);
    }
  }
}
