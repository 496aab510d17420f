// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.expression.resolve.ColumnFunction;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.table.DeviceFunction;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.sql.SqlOperator;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.functions.BuiltInFunctionDefinition;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.functions.bridging.BridgingSqlFunction;
import org.apache.flink.table.planner.functions.utils.ScalarSqlFunction;
import org.apache.flink.table.types.logical.LogicalTypeRoot;

/**
 * The functions in Java that expressions call, each once for the types of its arguments: those of
 * the user, and Flink's functions of bitmaps.
 */
@Internal
public final class UserFunctions {
  private final Map<Signature, UserDefinedFunction> functions = new LinkedHashMap<>();

  private record Signature(SqlOperator function, List<RelDataType> arguments, RelDataType result) {
    private static Signature of(RexCall call) {
      return new Signature(
          call.getOperator(),
          call.getOperands().stream().map(RexNode::getType).toList(),
          call.getType());
    }
  }

  private UserFunctions() {}

  /**
   * The functions that {@code expressions} call.
   *
   * @throws UnsupportedNodeException with the reason why Flink has to call one of them
   */
  public static UserFunctions of(List<RexNode> expressions) {
    UserFunctions functions = new UserFunctions();
    Collector collector = functions.new Collector();
    expressions.forEach(expression -> expression.accept(collector));
    return functions;
  }

  private final class Collector extends RexVisitorImpl<Void> {
    private Collector() {
      super(true);
    }

    @Override
    public Void visitCall(RexCall call) {
      if (isCalled(call)) {
        functions.computeIfAbsent(
            Signature.of(call), key -> UserFunctionCall.of(call).as(freeName(call)));
      }
      return super.visitCall(call);
    }
  }

  private String freeName(RexCall call) {
    String name = call.getOperator().getName().toUpperCase(Locale.ROOT);
    String free = name;
    for (int i = 2; isTaken(free); i++) {
      free = name + "#" + i;
    }
    return free;
  }

  private boolean isTaken(String name) {
    return FunctionRegistry.builtIn().find(name).isPresent()
        || functions.values().stream().anyMatch(function -> function.name().equals(name));
  }

  /** Whether the function of a call is one of these. */
  static boolean isCalled(RexCall call) {
    return isOfUser(call) || isOfBitmaps(call);
  }

  /** Whether a call is of a function of Flink's that takes or gives a bitmap. */
  static boolean isOfBitmaps(RexCall call) {
    return call.getOperator() instanceof BridgingSqlFunction function
        && function.getDefinition() instanceof BuiltInFunctionDefinition definition
        && definition.getRuntimeClass().isPresent()
        && FunctionRegistry.builtIn().find(function.getName()).isEmpty()
        && Stream.concat(Stream.of(call), call.getOperands().stream())
            .map(RexNode::getType)
            .map(FlinkTypeFactory::toLogicalType)
            .anyMatch(type -> type.is(LogicalTypeRoot.BITMAP));
  }

  /** Whether an expression has a function of Flink's whose arguments are bitmaps of others. */
  static boolean nestsBitmaps(RexNode node) {
    return node instanceof RexCall call
        && (isOfBitmaps(call)
            ? call.getOperands().stream().anyMatch(UserFunctions::givesBitmap)
            : call.getOperands().stream().anyMatch(UserFunctions::nestsBitmaps));
  }

  private static boolean givesBitmap(RexNode node) {
    return node instanceof RexCall call
        && ((isOfBitmaps(call) && RexConverter.type(call).isBitmap())
            || call.getOperands().stream().anyMatch(UserFunctions::givesBitmap));
  }

  /** Whether a call is of a function of the user, however it is called. */
  @SuppressWarnings("deprecation") // functions that are registered in the old way
  static boolean isOfUser(RexCall call) {
    return call.getOperator() instanceof ScalarSqlFunction
        || (call.getOperator() instanceof BridgingSqlFunction function
            && function.getDefinition()
                instanceof org.apache.flink.table.functions.UserDefinedFunction);
  }

  /** Whether a call is of a function of the user that has no form but {@code eval}. */
  public static boolean isPlainJava(RexCall call) {
    return call.getOperator() instanceof BridgingSqlFunction function
        && function.getDefinition() instanceof ScalarFunction definition
        && !(definition instanceof DeviceFunction)
        && !(definition instanceof ColumnFunction);
  }

  /** Whether Flink has to open a function with a context before it is called. */
  public static boolean isOpened(org.apache.flink.table.functions.UserDefinedFunction function) {
    try {
      return function.getClass().getMethod("open", FunctionContext.class).getDeclaringClass()
          != org.apache.flink.table.functions.UserDefinedFunction.class;
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The name by which the function of a call is registered. */
  String name(RexCall call) {
    return functions.get(Signature.of(call)).name();
  }

  /** The settings with these functions. */
  public ExpressionSettings in(ExpressionSettings settings) {
    ExpressionSettings all = settings;
    for (UserDefinedFunction function : functions.values()) {
      all = all.withFunction(function);
    }
    return all;
  }
}
