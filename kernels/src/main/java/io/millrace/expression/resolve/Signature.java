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
 * Types of arguments that a function takes. A function may take more than its signatures list, by
 * implicit casts; each one listed works without.
 */
@Internal
public record Signature(List<Parameter> parameters) {

  /**
   * One argument.
   *
   * @param literals if there are any, the argument must be a literal, such as these
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

  /** Of these types, any expressions. */
  public static Signature of(DataType... types) {
    return new Signature(Arrays.stream(types).map(Signature::any).toList());
  }

  public static Signature of(Parameter... parameters) {
    return new Signature(List.of(parameters));
  }

  /** An argument that any expression of the type may be. */
  public static Parameter any(DataType type) {
    return new Parameter(type, List.of());
  }

  /** An argument that must be a literal; values as {@link TypedExpression.Literal} holds them. */
  public static Parameter literal(DataType type, Serializable... examples) {
    return new Parameter(type, List.of(examples));
  }

  @Override
  public String toString() {
    return parameters.stream().map(Object::toString).collect(Collectors.joining(", ", "(", ")"));
  }
}
