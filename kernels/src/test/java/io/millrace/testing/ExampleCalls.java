// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.resolve.Signature.Parameter;
import io.millrace.expression.typed.TypedExpression;
import java.util.ArrayList;
import java.util.List;

/** Calls of functions with the arguments of their signatures. */
public final class ExampleCalls {
  private ExampleCalls() {}

  /** A call with columns of the parameters' types, and the first literal where one is needed. */
  public static TypedExpression of(
      FunctionDefinition function, Signature signature, ResolutionContext context) {
    List<Field> fields = new ArrayList<>();
    List<Expression> arguments = new ArrayList<>();
    for (Parameter parameter : signature.parameters()) {
      Field field = Field.of("a" + fields.size(), parameter.type());
      fields.add(field);
      arguments.add(
          parameter.literals().isEmpty()
              ? Expressions.col(field.name())
              : new Expression.Literal(parameter.literals().get(0), parameter.type()));
    }
    return new ExpressionResolver(new Schema(fields), context)
        .resolve(new Expression.Call(function.name(), arguments));
  }

  /** Whether a call with the arguments of some signature runs on the device. */
  public static boolean runsOnDevice(FunctionDefinition function, ResolutionContext context) {
    return function.signatures().stream()
        .anyMatch(signature -> HostReasons.of(of(function, signature, context)).isEmpty());
  }
}
