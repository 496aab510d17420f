// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.typed.TypedExpression;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A list of argument types that a function accepts without implicit casts. Implicit casts may make
 * other types acceptable.
 */
@Internal
public record Signature(List<Parameter> parameters) {

  /**
   * The type of one argument.
   *
   * @param literals if not empty, the argument must be a literal; these are examples
   */
  public record Parameter(DataType type, List<Serializable> literals) {
    public Parameter {
      literals = List.copyOf(literals);
    }

    @Override
    public String toString() {
      return literals.isEmpty() ? type.toString() : type + " literal";
    }
  }

  public Signature {
    parameters = List.copyOf(parameters);
  }

  /** A signature of arbitrary expressions of these types. */
  public static Signature of(DataType... types) {
    return new Signature(Arrays.stream(types).map(Signature::any).toList());
  }

  public static Signature of(Parameter... parameters) {
    return new Signature(List.of(parameters));
  }

  /** The signature of a function without arguments. */
  public static Signature none() {
    return new Signature(List.of());
  }

  /** A parameter that accepts any expression of the type. */
  public static Parameter any(DataType type) {
    return new Parameter(type, List.of());
  }

  /**
   * A parameter that must be a literal. The examples have the classes of {@link
   * TypedExpression.Literal}.
   */
  public static Parameter literal(DataType type, Serializable... examples) {
    return new Parameter(type, List.of(examples));
  }

  @Override
  public String toString() {
    return parameters.stream().map(Object::toString).collect(Collectors.joining(", ", "(", ")"));
  }
}
