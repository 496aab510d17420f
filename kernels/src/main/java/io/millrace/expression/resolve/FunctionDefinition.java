// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * The definition of a SQL function: its name, signatures and documentation, and how calls are
 * bound. Immutable.
 */
@Internal
public final class FunctionDefinition {
  /** Binds calls of the function. */
  @FunctionalInterface
  public interface Binder {

    /**
     * Returns the typed expression of a call: usually {@link BoundFunction.Builder#call} on the
     * arguments after implicit casts ({@link Coercion}), or an equivalent composition of other
     * nodes.
     *
     * @throws ExpressionException if the arguments do not fit; the resolver adds the call to the
     *     message
     */
    TypedExpression bind(List<TypedExpression> arguments, BindingContext context);
  }

  private final String name;
  private final List<String> aliases;
  private final FunctionFamily family;
  private final List<Signature> signatures;
  private final String description;
  private final String differences;
  private final Binder binder;
  private final Function<List<String>, String> sql;

  private FunctionDefinition(Builder builder) {
    this.name = builder.name;
    this.aliases = builder.aliases;
    this.family = Objects.requireNonNull(builder.family, "family is null");
    this.signatures = builder.signatures;
    this.description = Objects.requireNonNull(builder.description, "description is null");
    this.differences = builder.differences;
    this.binder = Objects.requireNonNull(builder.binder, "binder is null");
    this.sql = builder.sql;
  }

  /** The SQL name in upper case. */
  public String name() {
    return name;
  }

  public List<String> aliases() {
    return aliases;
  }

  public FunctionFamily family() {
    return family;
  }

  public List<Signature> signatures() {
    return signatures;
  }

  /** A one-sentence description for the function reference. */
  public String description() {
    return description;
  }

  /** Differences from Flink SQL; empty if there are none. */
  public String differences() {
    return differences;
  }

  /**
   * Binds a call.
   *
   * @throws ExpressionException if the arguments do not fit; names the offending argument
   */
  public TypedExpression bind(List<TypedExpression> arguments, BindingContext context) {
    return binder.bind(arguments, context);
  }

  /** Writes a call as SQL. */
  public String toSql(List<String> arguments) {
    return sql.apply(arguments);
  }

  @Override
  public String toString() {
    return name;
  }

  public static Builder named(String name) {
    return new Builder(name);
  }

  /** Builds a definition. */
  public static final class Builder {
    private final String name;
    private List<String> aliases = List.of();
    private FunctionFamily family;
    private List<Signature> signatures = List.of();
    private String description;
    private String differences = "";
    private Binder binder;
    private Function<List<String>, String> sql;

    private Builder(String name) {
      this.name = name;
      this.sql = arguments -> name + "(" + String.join(", ", arguments) + ")";
    }

    public Builder aliases(String... names) {
      this.aliases = List.of(names);
      return this;
    }

    public Builder family(FunctionFamily value) {
      this.family = value;
      return this;
    }

    public Builder signatures(Signature... values) {
      this.signatures = List.of(values);
      return this;
    }

    public Builder signatures(List<Signature> values) {
      this.signatures = List.copyOf(values);
      return this;
    }

    public Builder description(String sentence) {
      this.description = sentence;
      return this;
    }

    public Builder differences(String sentence) {
      this.differences = sentence;
      return this;
    }

    /**
     * Sets how a call is written, given the texts of its arguments. Default: {@code NAME(a, b)}.
     */
    public Builder sql(Function<List<String>, String> text) {
      this.sql = text;
      return this;
    }

    /** Writes calls as {@code (a NAME b)}. */
    public Builder infix(String operator) {
      return sql(arguments -> "(" + String.join(" " + operator + " ", arguments) + ")");
    }

    public FunctionDefinition bind(Binder value) {
      this.binder = value;
      return new FunctionDefinition(this);
    }
  }
}
