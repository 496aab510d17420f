// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.digest;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import java.util.List;

/** HASH_CODE, by which Flink's planner splits the arguments of distinct aggregates in parts. */
@Internal
public final class HashCodeFunctions {
  private HashCodeFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        FunctionDefinition.named("HASH_CODE")
            .family(FunctionFamily.DIGEST)
            .signatures(
                Signature.of(DataType.INT8),
                Signature.of(DataType.INT16),
                Signature.of(DataType.INT32),
                Signature.of(DataType.INT64),
                Signature.of(DataType.STRING))
            .description(
                "The hashCode() that an integer has in Java, or the absolute value of a string's.")
            .bind(HashCodeFunctions::bind));
  }

  private static TypedExpression bind(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 1, 1);
    TypedExpression value =
        Arguments.typed(
            arguments, 0, TypeId.INT8, TypeId.INT16, TypeId.INT32, TypeId.INT64, TypeId.STRING);
    BoundFunction.Builder function = BoundFunction.named("HASH_CODE");
    return switch (value.type().id()) {
      case STRING ->
          function
              .failing()
              .host(
                  HostFunction.ofRow(
                      (operands, result, row) ->
                          result.longs()[row] = hashOfText(operands[0], row)))
              .device("hash_code_of_text")
              .call(List.of(value), DataType.INT32);
      case INT64 ->
          function
              .host(HostFunction.ofLong(Long::hashCode))
              .device("hash_code_of_long")
              .call(List.of(value), DataType.INT32);
      default -> Coercion.cast(value, DataType.INT32, context);
    };
  }

  /** The absolute value of {@code String.hashCode()}, for ASCII without the String. */
  private static int hashOfText(HostVector texts, int row) {
    int hash = 0;
    for (int i = 0; i < texts.length(row); i++) {
      byte unit = HostMemory.getByte(texts.address(row) + i);
      if (unit < 0) {
        return magnitude(texts.getString(row).hashCode());
      }
      hash = 31 * hash + unit;
    }
    return magnitude(hash);
  }

  // The least INT stays negative, as in Flink.
  private static int magnitude(int hash) {
    return hash < 0 ? -hash : hash;
  }
}
