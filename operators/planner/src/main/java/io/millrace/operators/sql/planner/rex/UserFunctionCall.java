// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.resolve.ColumnFunction;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.runtime.OpenedFunction;
import io.millrace.operators.sql.runtime.ScalarFunctionCall;
import io.millrace.operators.sql.table.DeviceFunction;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexCallBinding;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.functions.FunctionDefinition;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.table.functions.SpecializedFunction;
import org.apache.flink.table.functions.UserDefinedFunctionHelper;
import org.apache.flink.table.functions.python.PythonFunction;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.functions.bridging.BridgingSqlFunction;
import org.apache.flink.table.planner.functions.inference.OperatorBindingCallContext;
import org.apache.flink.table.types.extraction.ExtractionUtils;
import org.apache.flink.table.types.inference.CallContext;
import org.apache.flink.table.types.inference.TypeInferenceUtil;
import org.apache.flink.table.types.utils.DataTypeUtils;

/**
 * A call of a function of the user, or of a function of Flink's that is a class in Java.
 *
 * @param eval the method that Flink would call
 * @param arguments the types of its arguments, with the classes that the method takes
 * @param result the type of its result, with the class that the method returns
 */
record UserFunctionCall(
    RexCall call,
    ScalarFunction function,
    Method eval,
    List<org.apache.flink.table.types.DataType> arguments,
    org.apache.flink.table.types.DataType result) {

  /**
   * The call.
   *
   * @throws UnsupportedNodeException with the reason why Flink has to call the function
   */
  static UserFunctionCall of(RexCall call) {
    if (!(call.getOperator() instanceof BridgingSqlFunction operator)) {
      throw refused(call, "is registered in the old way");
    }
    return UserFunctions.isOfUser(call) ? ofUser(call, operator) : ofFlink(call, operator);
  }

  private static UserFunctionCall ofUser(RexCall call, BridgingSqlFunction operator) {
    ScalarFunction function = checked(call, operator.getDefinition());
    CallContext typed = typed(call, operator, null);
    List<org.apache.flink.table.types.DataType> arguments = typed.getArgumentDataTypes();
    org.apache.flink.table.types.DataType result =
        TypeInferenceUtil.inferOutputType(
            typed, operator.getTypeInference().getOutputTypeStrategy());
    return new UserFunctionCall(call, function, eval(call, function, arguments), arguments, result);
  }

  // Takes and gives the values of Flink's rows.
  private static UserFunctionCall ofFlink(RexCall call, BridgingSqlFunction operator) {
    checkBytes(call);
    org.apache.flink.table.types.DataType result =
        DataTypeUtils.toInternalDataType(FlinkTypeFactory.toLogicalType(call.getType()));
    CallContext typed = typed(call, operator, result);
    ScalarFunction function = builtIn(operator, typed);
    List<org.apache.flink.table.types.DataType> arguments =
        typed.getArgumentDataTypes().stream().map(DataTypeUtils::toInternalDataType).toList();
    return new UserFunctionCall(call, function, eval(call, function, arguments), arguments, result);
  }

  // In Flink a bitmap goes from function to function in whatever form it is, here as its bytes.
  private static void checkBytes(RexCall call) {
    if (RexConverter.type(call).equals(DataType.BINARY)
        && call.getOperands().stream().anyMatch(UserFunctions::nestsBitmaps)) {
      throw refused(call, "of nested functions may give other bytes for the same bitmap");
    }
  }

  private static CallContext typed(
      RexCall call, BridgingSqlFunction operator, org.apache.flink.table.types.DataType result) {
    CallContext context =
        new OperatorBindingCallContext(
            operator.getDataTypeFactory(),
            operator.getDefinition(),
            RexCallBinding.create(operator.getTypeFactory(), call, List.of()),
            call.getType());
    return TypeInferenceUtil.castArguments(operator.getTypeInference(), context, result);
  }

  private static ScalarFunction builtIn(BridgingSqlFunction operator, CallContext call) {
    return (ScalarFunction)
        UserDefinedFunctionHelper.createSpecializedFunction(
            operator.getName(),
            operator.getDefinition(),
            call,
            UserFunctionCall.class.getClassLoader(),
            new Configuration(),
            null);
  }

  private static UnsupportedNodeException refused(RexCall call, String reason) {
    return new UnsupportedNodeException("function " + call.getOperator().getName() + " " + reason);
  }

  private static ScalarFunction checked(RexCall call, FunctionDefinition definition) {
    if (!(definition instanceof ScalarFunction function)) {
      throw refused(call, "is of the kind " + definition.getKind());
    } else if (definition instanceof PythonFunction) {
      throw refused(call, "is Python code");
    } else if (definition instanceof SpecializedFunction) {
      throw refused(call, "is specialized for its arguments");
    } else if (!definition.isDeterministic()) {
      throw refused(call, "is not deterministic");
    } else {
      return function;
    }
  }

  private static Method eval(
      RexCall call,
      ScalarFunction function,
      List<org.apache.flink.table.types.DataType> arguments) {
    Class<?>[] classes =
        arguments.stream()
            .map(org.apache.flink.table.types.DataType::getConversionClass)
            .toArray(Class<?>[]::new);
    List<Method> invokable =
        ExtractionUtils.collectMethods(function.getClass(), UserDefinedFunctionHelper.SCALAR_EVAL)
            .stream()
            .filter(
                method ->
                    ExtractionUtils.isInvokable(ExtractionUtils.Autoboxing.JVM, method, classes))
            .toList();
    List<Method> exact =
        invokable.stream().filter(method -> takesExactly(method, classes)).toList();
    List<Method> chosen = exact.isEmpty() ? invokable : exact;
    if (chosen.size() != 1) {
      throw refused(call, "has several eval methods for these arguments");
    }
    return chosen.get(0);
  }

  private static boolean takesExactly(Method method, Class<?>[] classes) {
    return Arrays.equals(
        Arrays.stream(method.getParameterTypes())
            .map(ExtractionUtils::primitiveToWrapper)
            .toArray(Class<?>[]::new),
        Arrays.stream(classes).map(ExtractionUtils::primitiveToWrapper).toArray(Class<?>[]::new));
  }

  /** The function under a name. */
  UserDefinedFunction as(String name) {
    UserDefinedFunction.Builder builder =
        UserDefinedFunction.named(name)
            .arguments(call.getOperands().stream().map(RexConverter::type).toArray(DataType[]::new))
            .returns(RexConverter.type(call));
    Optional<String> hostReason = hostReason();
    if (hostReason.isEmpty()) {
      DeviceFunction device = (DeviceFunction) function;
      if (device.returnsOutcome()) {
        builder.failing();
      }
      builder.device(device.deviceFunction(), device.ptx());
    } else {
      builder.failing().hostOnly(hostReason.get());
      if (isAskedAboutNulls()) {
        builder.takesNulls();
      }
    }
    return builder.as(new OpenedFunction(function, evaluation()));
  }

  private ColumnFunction evaluation() {
    return function instanceof ColumnFunction vectors && !isAskedAboutNulls()
        ? vectors
        : new ScalarFunctionCall(function, eval, arguments, result);
  }

  /** Why the host evaluates the function; empty if a device can. */
  private Optional<String> hostReason() {
    if (!(function instanceof DeviceFunction device)) {
      return Optional.of(
          UserFunctions.isOfUser(call) ? "plain Java of the user" : "Flink's function of bitmaps");
    }
    DataType type = RexConverter.type(call);
    boolean hasNested =
        call.getOperands().stream()
            .anyMatch(operand -> !RexConverter.type(operand).id().isScalar());
    if (!type.id().isScalar() || type.id() == TypeId.STRING || type.id() == TypeId.BINARY) {
      return Optional.of("a device function cannot give a " + type);
    } else if (hasNested) {
      return Optional.of("a device function cannot take nested values");
    } else if (isAskedAboutNulls()) {
      return Optional.of("eval is asked about nulls");
    } else {
      return fault(device);
    }
  }

  private static Optional<String> fault(DeviceFunction device) {
    try {
      return device.ptx().contains(device.deviceFunction())
          ? Optional.empty()
          : Optional.of("its PTX has no function " + device.deviceFunction());
    } catch (RuntimeException e) {
      return Optional.of("its PTX cannot be read: " + e.getMessage());
    }
  }

  // As Flink asks; a function that gives null for null need not be.
  private boolean isAskedAboutNulls() {
    boolean givesNullForNull =
        call.getType().isNullable()
            && (function instanceof ColumnFunction
                || (function instanceof DeviceFunction device && device.nullForNull()));
    return !givesNullForNull
        && call.getOperands().stream().anyMatch(operand -> operand.getType().isNullable());
  }
}
