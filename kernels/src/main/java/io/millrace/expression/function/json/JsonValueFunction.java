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
import io.millrace.expression.resolve.Signature.Parameter;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@code JSON_VALUE(text, path)}. The arguments behind the path are those of Calcite's call, with
 * words as {@link JsonArguments}: first, if the result is not a STRING, {@code 'RETURNING'} and the
 * name of its type, {@code 'BOOLEAN'}, {@code 'INT'} or {@code 'DOUBLE'}; then what to do if there
 * is no value and if there is an error, each as {@code 'NULL'}, {@code 'ERROR'} or {@code
 * 'DEFAULT'} with a literal, followed by {@code 'EMPTY'} or {@code 'ERROR'}. Without the latter it
 * is null.
 */
final class JsonValueFunction {
  private static final String NAME = "JSON_VALUE";
  private static final String RETURNING = "RETURNING";
  private static final Map<String, DataType> TYPES =
      Map.of(
          "STRING", DataType.STRING,
          "BOOLEAN", DataType.BOOL,
          "INT", DataType.INT32,
          "DOUBLE", DataType.FLOAT64);

  /** What to do if there is no value. */
  private enum Behavior {
    NULL(0),
    ERROR(1),
    DEFAULT(2);

    private final int deviceCode;

    Behavior(int deviceCode) {
      this.deviceCode = deviceCode;
    }
  }

  /** When to do it. */
  private enum Mode {
    EMPTY,
    ERROR
  }

  /**
   * {@code NULL ON EMPTY}, or another behavior or mode.
   *
   * @param value the literal of DEFAULT; for other behaviors any constant
   */
  private record Clause(Behavior behavior, TypedExpression value) {}

  private final JsonPath path;
  private final DataType type;
  private Clause onEmpty;
  private Clause onError;

  private JsonValueFunction(List<TypedExpression> arguments) {
    path = JsonPath.parse(Arguments.literalString(arguments, 1));
    boolean hasType = Arguments.literal(arguments, 2).filter(RETURNING::equals).isPresent();
    type = hasType ? type(Arguments.literalString(arguments, 3)) : DataType.STRING;
    onEmpty = new Clause(Behavior.NULL, anyConstant());
    onError = onEmpty;
    for (int next = hasType ? 4 : 2; next < arguments.size(); ) {
      Behavior behavior = JsonArguments.word(arguments, next++, Behavior.class);
      boolean hasValue = behavior == Behavior.DEFAULT;
      TypedExpression value = hasValue ? checkedDefault(arguments, next++) : anyConstant();
      Clause clause = new Clause(behavior, value);
      switch (JsonArguments.word(arguments, next++, Mode.class)) {
        case EMPTY -> onEmpty = clause;
        case ERROR -> onError = clause;
      }
    }
  }

  private static DataType type(String name) {
    DataType type = TYPES.get(name);
    if (type == null) {
      throw new ExpressionException(
          "expected RETURNING STRING, BOOLEAN, INT or DOUBLE, got RETURNING " + name);
    }
    return type;
  }

  private TypedExpression checkedDefault(List<TypedExpression> arguments, int index) {
    Arguments.count(arguments, index + 2, Integer.MAX_VALUE);
    TypedExpression value = arguments.get(index);
    if (type.id() == TypeId.FLOAT64) {
      throw new ExpressionException("Flink fails for a DEFAULT with RETURNING DOUBLE");
    }
    if (Arguments.literal(arguments, index).isEmpty() || !value.type().equals(type)) {
      throw new ExpressionException(
          "expected a literal of " + type + " as DEFAULT, got " + value + ", " + value.type());
    }
    return value;
  }

  static FunctionDefinition definition() {
    return FunctionDefinition.named(NAME)
        .family(FunctionFamily.JSON)
        .signatures(signatures())
        .description(
            "The scalar at a path of members and indices. The path is lax if it begins with lax:"
                + " then a value that is missing, null, an object or an array counts as empty, and"
                + " so does a text that is not JSON. In strict mode all of that is an error. ON"
                + " EMPTY and ON ERROR say what to give, null if they are absent. A value of"
                + " another type than RETURNING names fails; only numbers with a point or an"
                + " exponent are DOUBLE.")
        .differences(
            "Refuses paths with wildcards, filters, functions, slices or several names in one"
                + " step, paths that are no literal, a DEFAULT of another type than the result, and"
                + " any DEFAULT for DOUBLE, for which Flink fails.")
        .sql(JsonValueFunction::toSql)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 2, Integer.MAX_VALUE);
              Arguments.typed(arguments, 0, TypeId.STRING);
              return new JsonValueFunction(arguments).call(arguments);
            });
  }

  private static List<Signature> signatures() {
    List<Signature> signatures = new ArrayList<>();
    signatures.add(signature(JsonPathFunctions.paths()));
    signatures.add(
        signature(
            JsonPathFunctions.paths(),
            word("DEFAULT"),
            Signature.literal(DataType.STRING, "none"),
            word("EMPTY"),
            Signature.literal(DataType.STRING, "NULL", "ERROR"),
            word("ERROR")));
    for (String type : List.of("BOOLEAN", "INT", "DOUBLE")) {
      signatures.add(signature(JsonPathFunctions.paths(), word(RETURNING), word(type)));
    }
    signatures.add(
        signature(
            JsonPathFunctions.paths(),
            word(RETURNING),
            word("INT"),
            Signature.literal(DataType.STRING, "NULL", "ERROR"),
            word("EMPTY"),
            word("DEFAULT"),
            Signature.literal(DataType.INT32, 7L),
            word("ERROR")));
    return signatures;
  }

  private static Signature signature(Parameter... behindText) {
    List<Parameter> parameters = new ArrayList<>();
    parameters.add(Signature.any(DataType.STRING));
    parameters.addAll(List.of(behindText));
    return new Signature(parameters);
  }

  private static Parameter word(String word) {
    return Signature.literal(DataType.STRING, word);
  }

  private static String toSql(List<String> arguments) {
    StringBuilder sql = new StringBuilder(NAME + "(");
    sql.append(String.join(", ", arguments.subList(0, Math.min(2, arguments.size()))));
    int next = 2;
    if (arguments.size() >= 4 && words(arguments.get(2)).equals(RETURNING)) {
      sql.append(" RETURNING ").append(words(arguments.get(3)));
      next = 4;
    }
    while (next < arguments.size()) {
      boolean hasDefault = words(arguments.get(next)).equals(Behavior.DEFAULT.name());
      int mode = next + (hasDefault ? 2 : 1);
      sql.append(" ").append(words(arguments.get(next)));
      if (hasDefault && mode <= arguments.size()) {
        sql.append(" ").append(arguments.get(next + 1));
      }
      if (mode < arguments.size()) {
        sql.append(" ON ").append(words(arguments.get(mode)));
      }
      next = mode + 1;
    }
    return sql.append(")").toString();
  }

  private TypedExpression call(List<TypedExpression> arguments) {
    List<String> rest = arguments.stream().skip(1).map(Object::toString).toList();
    BoundFunction.Builder function =
        BoundFunction.named(NAME)
            .parameters(path, type, onEmpty.behavior(), onError.behavior())
            .failing()
            .host(HostFunction.ofFallibleRow(this::evaluate))
            .sql(
                operands -> {
                  List<String> all = new ArrayList<>(operands.subList(0, 1));
                  all.addAll(rest);
                  return toSql(all);
                });
    if (path.steps().size() > JsonPath.MAX_DEVICE_STEPS) {
      function.hostOnly(JsonPathFunctions.LONG_PATH);
    } else {
      function.device(
          DeviceFunction.call(
              "json_value_" + type.toString().toLowerCase(Locale.ROOT),
              path.constant(onEmpty.behavior().deviceCode, onError.behavior().deviceCode)));
    }
    if (type.id() == TypeId.STRING) {
      function.scratch(ResultSizeLimit.ofOperand(0).plusOperand(1, 1).plusOperand(2, 1));
    }
    return function.call(operands(arguments.get(0)), type, true);
  }

  /** The text and, but for DOUBLE, what it gives in place of nothing and of an error. */
  private List<TypedExpression> operands(TypedExpression text) {
    return type.id() == TypeId.FLOAT64
        ? List.of(text)
        : List.of(text, onEmpty.value(), onError.value());
  }

  private TypedExpression anyConstant() {
    return new TypedExpression.Literal(
        switch (type.id()) {
          case STRING -> "";
          case BOOL -> false;
          default -> 0L;
        },
        type);
  }

  private void evaluate(HostVector[] operands, HostVector result, int row, Rows rows) {
    JsonPath.Result found = path.evaluate(operands[0].getString(row));
    if (found.outcome() == JsonPath.Outcome.VALUE && JsonTree.isScalar(found.value())) {
      set(found.value(), result, row, rows);
      return;
    }
    boolean isEmpty =
        found.outcome() == JsonPath.Outcome.EMPTY
            || (found.outcome() == JsonPath.Outcome.VALUE && path.isLax());
    switch (isEmpty ? onEmpty.behavior() : onError.behavior()) {
      case NULL -> result.setNull(row);
      case ERROR -> rows.refuse(row, failure(found, isEmpty));
      case DEFAULT -> copy(operands[isEmpty ? 1 : 2], result, row);
    }
  }

  private String failure(JsonPath.Result found, boolean isEmpty) {
    if (isEmpty) {
      return "Empty result of JSON_VALUE function is not allowed";
    }
    return found.outcome() == JsonPath.Outcome.VALUE
        ? "Strict jsonpath mode requires scalar value, and the actual value is: ''%s''"
            .formatted(found.value())
        : path.noResults();
  }

  private void copy(HostVector from, HostVector result, int row) {
    if (type.id() == TypeId.STRING) {
      result.setBytes(row, from.address(row), from.length(row));
    } else {
      result.longs()[row] = from.longs()[row];
    }
  }

  private void set(Object value, HostVector result, int row, Rows rows) {
    if (type.id() == TypeId.STRING) {
      result.setString(row, value.toString());
    } else if (type.id() == TypeId.BOOL && value instanceof Boolean bool) {
      result.setBoolean(row, bool);
    } else if (type.id() == TypeId.INT32 && value instanceof Integer number) {
      result.longs()[row] = number;
    } else if (type.id() == TypeId.FLOAT64 && value instanceof BigDecimal number) {
      result.doubles()[row] = number.doubleValue();
    } else {
      rows.fail(row, Status.INVALID_CAST);
    }
  }
}
