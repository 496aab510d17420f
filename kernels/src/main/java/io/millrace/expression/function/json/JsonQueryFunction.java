// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import static io.millrace.expression.function.json.JsonArguments.words;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code JSON_QUERY(text, path)}. The arguments behind the path are those of Calcite's call, with
 * words as {@link JsonArguments}: the wrapper, {@code 'WITHOUT_ARRAY'}, {@code
 * 'WITH_CONDITIONAL_ARRAY'} or {@code 'WITH_UNCONDITIONAL_ARRAY'}; what to give if there is no
 * value and if there is an error, each {@code 'NULL'}, {@code 'ERROR'}, {@code 'EMPTY_ARRAY'} or
 * {@code 'EMPTY_OBJECT'}; and optionally the type that is returned, {@code 'STRING'} or {@code
 * 'ARRAY<STRING>'}. Without the words the wrapper is the first, and null is given.
 */
final class JsonQueryFunction {
  private static final String NAME = "JSON_QUERY";
  private static final String STRING = "STRING";
  private static final String ARRAY = "ARRAY<STRING>";
  private static final int PATH_AND_TEXT = 2;
  private static final int WITH_WORDS = 5;

  /** Whether a value is put into an array. */
  private enum Wrapper {
    WITHOUT_ARRAY(0),
    WITH_CONDITIONAL_ARRAY(1),
    WITH_UNCONDITIONAL_ARRAY(2);

    private final int deviceCode;

    Wrapper(int deviceCode) {
      this.deviceCode = deviceCode;
    }

    private Object wrap(Object value) {
      boolean isWrapped =
          this == WITH_UNCONDITIONAL_ARRAY
              || (this == WITH_CONDITIONAL_ARRAY && !(value instanceof List));
      return isWrapped ? List.of(value) : value;
    }
  }

  /** What to give if there is neither an object nor an array. */
  private enum Behavior {
    NULL(0),
    ERROR(1),
    EMPTY_ARRAY(2),
    EMPTY_OBJECT(3);

    private final int deviceCode;

    Behavior(int deviceCode) {
      this.deviceCode = deviceCode;
    }
  }

  private final JsonPath path;
  private final Wrapper wrapper;
  private final Behavior onEmpty;
  private final Behavior onError;
  private final boolean isArray;

  private JsonQueryFunction(List<TypedExpression> arguments) {
    path = JsonPath.parse(Arguments.literalString(arguments, 1));
    boolean hasWords = arguments.size() > PATH_AND_TEXT;
    wrapper = hasWords ? JsonArguments.word(arguments, 2, Wrapper.class) : Wrapper.WITHOUT_ARRAY;
    onEmpty = hasWords ? JsonArguments.word(arguments, 3, Behavior.class) : Behavior.NULL;
    onError = hasWords ? JsonArguments.word(arguments, 4, Behavior.class) : Behavior.NULL;
    String returned =
        arguments.size() > WITH_WORDS ? Arguments.literalString(arguments, WITH_WORDS) : STRING;
    isArray = returned.equals(ARRAY);
    if (!isArray && !returned.equals(STRING)) {
      throw new ExpressionException(
          "expected RETURNING STRING or ARRAY<STRING>, got RETURNING " + returned);
    }
  }

  static FunctionDefinition definition() {
    return FunctionDefinition.named(NAME)
        .family(FunctionFamily.JSON)
        .signatures(
            Signature.of(Signature.any(DataType.STRING), JsonPathFunctions.paths()),
            Signature.of(
                Signature.any(DataType.STRING),
                JsonPathFunctions.paths(),
                Signature.literal(
                    DataType.STRING,
                    "WITH_CONDITIONAL_ARRAY",
                    "WITHOUT_ARRAY",
                    "WITH_UNCONDITIONAL_ARRAY"),
                Signature.literal(DataType.STRING, "EMPTY_OBJECT", "NULL", "EMPTY_ARRAY", "ERROR"),
                Signature.literal(DataType.STRING, "EMPTY_ARRAY", "EMPTY_OBJECT", "ERROR", "NULL")),
            Signature.of(
                Signature.any(DataType.STRING),
                JsonPathFunctions.paths(),
                Signature.literal(DataType.STRING, "WITHOUT_ARRAY", "WITH_CONDITIONAL_ARRAY"),
                Signature.literal(DataType.STRING, "NULL", "EMPTY_ARRAY"),
                Signature.literal(DataType.STRING, "EMPTY_ARRAY", "NULL"),
                Signature.literal(DataType.STRING, ARRAY)))
        .description(
            "The object or array at a path of members and indices, as JSON without white space and"
                + " with members in the order of their names. The wrapper puts any value but null,"
                + " or any that is not an array, into an array: WITH UNCONDITIONAL ARRAY WRAPPER,"
                + " WITH CONDITIONAL ARRAY WRAPPER. In lax mode a value that is missing, null or,"
                + " without a wrapper, a scalar counts as empty, and so does a text that is not"
                + " JSON; in strict mode that is an error. ON EMPTY and ON ERROR say what to give,"
                + " null if they are absent. RETURNING ARRAY<STRING> gives the elements of an array,"
                + " strings without quotes.")
        .differences(
            "Refuses paths with wildcards, filters, functions, slices or several names in one"
                + " step, and paths that are no literal.")
        .sql(JsonQueryFunction::toSql)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, PATH_AND_TEXT, WITH_WORDS + 1);
              Arguments.typed(arguments, 0, TypeId.STRING);
              return new JsonQueryFunction(arguments).call(arguments);
            });
  }

  private static String toSql(List<String> arguments) {
    StringBuilder sql = new StringBuilder(NAME + "(");
    sql.append(String.join(", ", arguments.subList(0, Math.min(2, arguments.size()))));
    if (arguments.size() > WITH_WORDS) {
      sql.append(" RETURNING ").append(words(arguments.get(WITH_WORDS)));
    }
    if (arguments.size() >= WITH_WORDS) {
      sql.append(" ").append(words(arguments.get(2))).append(" WRAPPER");
      sql.append(" ").append(words(arguments.get(3))).append(" ON EMPTY");
      sql.append(" ").append(words(arguments.get(4))).append(" ON ERROR");
    }
    return sql.append(")").toString();
  }

  private TypedExpression call(List<TypedExpression> arguments) {
    List<String> rest = arguments.stream().skip(1).map(Object::toString).toList();
    BoundFunction.Builder function =
        BoundFunction.named(NAME)
            .parameters(path, wrapper, onEmpty, onError, isArray)
            .failing()
            .host(HostFunction.ofFallibleRow(isArray ? this::evaluateArray : this::evaluate))
            .scratch(ResultSizeLimit.ofOperand(0).plus("[]".length()))
            .sql(
                operands -> {
                  List<String> all = new ArrayList<>(operands);
                  all.addAll(rest);
                  return toSql(all);
                });
    if (isArray) {
      return function
          .hostOnly("arrays of strings are made by the host")
          .call(arguments.subList(0, 1), DataType.list(DataType.STRING), true);
    }
    if (path.steps().size() > JsonPath.MAX_DEVICE_STEPS) {
      function.hostOnly(JsonPathFunctions.LONG_PATH);
    } else {
      int empty = onEmpty.deviceCode | wrapper.deviceCode << 4;
      function.device(DeviceFunction.call("json_query", path.constant(empty, onError.deviceCode)));
    }
    return function.call(arguments.subList(0, 1), DataType.STRING, true);
  }

  private void evaluate(HostVector[] operands, HostVector result, int row, Rows rows) {
    JsonPath.Result found = path.evaluate(operands[0].getString(row));
    Optional<Object> value = value(found);
    Optional<String> text = value.flatMap(JsonTree::write);
    if (text.isPresent()) {
      result.setString(row, text.get());
      return;
    }
    switch (isEmpty(found) ? onEmpty : onError) {
      case NULL -> result.setNull(row);
      case ERROR -> rows.refuse(row, failure(found));
      case EMPTY_ARRAY -> result.setString(row, "[]");
      case EMPTY_OBJECT -> result.setString(row, "{}");
    }
  }

  private void evaluateArray(HostVector[] operands, HostVector result, int row, Rows rows) {
    JsonPath.Result found = path.evaluate(operands[0].getString(row));
    Optional<Object> value = value(found);
    if (value.isPresent() && value.get() instanceof List<?> list) {
      Optional<List<String>> elements = elements(list);
      if (elements.isPresent()) {
        setArray(elements.get(), result, row);
        return;
      }
    }
    switch (isEmpty(found) ? onEmpty : onError) {
      case NULL -> result.setNull(row);
      case ERROR, EMPTY_OBJECT -> rows.refuse(row, failure(found));
      case EMPTY_ARRAY -> result.appendElements(row, 0);
    }
  }

  /** The object or array that was found, with its wrapper. */
  private Optional<Object> value(JsonPath.Result found) {
    return found.outcome() == JsonPath.Outcome.VALUE
        ? Optional.of(wrapper.wrap(found.value())).filter(value -> !JsonTree.isScalar(value))
        : Optional.empty();
  }

  private boolean isEmpty(JsonPath.Result found) {
    return found.outcome() == JsonPath.Outcome.EMPTY
        || (found.outcome() == JsonPath.Outcome.VALUE
            && path.isLax()
            && JsonTree.isScalar(wrapper.wrap(found.value())));
  }

  private String failure(JsonPath.Result found) {
    if (isEmpty(found)) {
      return "Empty result of JSON_QUERY function is not allowed";
    }
    return found.outcome() == JsonPath.Outcome.VALUE
        ? "Strict jsonpath mode requires array or object value, and the actual value is: ''%s''"
            .formatted(found.value())
        : path.noResults();
  }

  /** Strings for elements, null for null; empty if an element is nested too deeply. */
  private static Optional<List<String>> elements(List<?> list) {
    List<String> elements = new ArrayList<>();
    for (Object element : list) {
      if (element == null || JsonTree.isScalar(element)) {
        elements.add(element == null ? null : element.toString());
      } else {
        Optional<String> text = JsonTree.write(element);
        if (text.isEmpty()) {
          return Optional.empty();
        }
        elements.add(text.get());
      }
    }
    return Optional.of(elements);
  }

  private static void setArray(List<String> elements, HostVector result, int row) {
    int first = result.appendElements(row, elements.size());
    for (int i = 0; i < elements.size(); i++) {
      if (elements.get(i) == null) {
        result.elements().setNull(first + i);
      } else {
        result.elements().setString(first + i, elements.get(i));
      }
    }
  }
}
