// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.function.logical.LogicalFunctions;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code IS JSON} and {@code IS NOT JSON}, of any value or of one kind. */
final class JsonPredicateFunctions {
  /** Kinds of JSON values. */
  private enum Kind {
    VALUE(0, ""),
    OBJECT(1, " whose value is an object"),
    ARRAY(2, " whose value is an array"),
    SCALAR(3, " whose value is neither an object nor an array");

    private final int deviceCode;
    private final String description;

    Kind(int deviceCode, String description) {
      this.deviceCode = deviceCode;
      this.description = description;
    }

    private boolean includes(Object value) {
      return switch (this) {
        case VALUE -> true;
        case OBJECT -> value instanceof Map;
        case ARRAY -> value instanceof List;
        case SCALAR -> JsonTree.isScalar(value);
      };
    }
  }

  private JsonPredicateFunctions() {}

  static List<FunctionDefinition> definitions() {
    List<FunctionDefinition> definitions = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      definitions.add(definition(kind, false));
      definitions.add(definition(kind, true));
    }
    return definitions;
  }

  private static FunctionDefinition definition(Kind kind, boolean isNegated) {
    String name = (isNegated ? "IS NOT JSON " : "IS JSON ") + kind;
    return FunctionDefinition.named(name)
        .family(FunctionFamily.JSON)
        .signatures(Signature.of(DataType.STRING))
        .description(
            (isNegated
                    ? "Whether a string is null or does not begin with"
                    : "Whether a string" + " begins with")
                + " JSON"
                + kind.description
                + ".")
        .sql(arguments -> "(" + arguments.get(0) + " " + name + ")")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 1);
              TypedExpression is = is(kind, Arguments.typed(arguments, 0, TypeId.STRING));
              return isNegated ? LogicalFunctions.not(is) : is;
            });
  }

  /** Whether a text is JSON; false if it is null. */
  private static TypedExpression is(Kind kind, TypedExpression text) {
    TypedExpression isJson =
        BoundFunction.named("IS JSON " + kind)
            .failing()
            .host(
                HostFunction.ofRow(
                    (operands, result, row) ->
                        result.setBoolean(
                            row,
                            JsonTree.parse(operands[0].getString(row))
                                .filter(tree -> kind.includes(tree.root()))
                                .isPresent())))
            .device(DeviceFunction.call("is_json", new byte[] {(byte) kind.deviceCode}))
            .sql(operands -> "(" + operands.get(0) + " IS JSON " + kind + ")")
            .call(List.of(text), DataType.BOOL);
    return text.nullable()
        ? new TypedExpression.Case(
            List.of(new TypedExpression.IsNull(text)),
            List.of(new TypedExpression.Literal(false, DataType.BOOL), isJson),
            false)
        : isJson;
  }
}
