// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.expression.resolve.ColumnFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.table.functions.UserDefinedFunctionHelper;
import org.apache.flink.table.types.DataType;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * Calls {@code eval} of a function of the user for each row, with arguments of the classes that
 * Flink gives it. A row for which {@code eval} throws an exception fails.
 */
@Internal
public final class ScalarFunctionCall implements ColumnFunction {
  private static final long serialVersionUID = 1L;

  private final ScalarFunction function;
  private final Class<?>[] parameters;
  private final List<DataType> arguments;
  private final DataType result;
  private transient Call call;

  /**
   * @param eval a method of the function's class
   * @param arguments the types of the arguments, with their conversion classes
   * @param result the type of the result, with its conversion class
   */
  public ScalarFunctionCall(
      ScalarFunction function, Method eval, List<DataType> arguments, DataType result) {
    this.function = function;
    this.parameters = eval.getParameterTypes();
    this.arguments = List.copyOf(arguments);
    this.result = result;
  }

  /** What the call is made of on the machine where it runs. */
  private record Call(MethodHandle eval, List<VectorValues> arguments, VectorValues result) {
    private void evaluate(HostVector[] operands, HostVector results, Rows rows) {
      Object[] values = new Object[operands.length];
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        for (int argument = 0; argument < values.length; argument++) {
          values[argument] = arguments.get(argument).read(operands[argument], row);
        }
        result.write(results, row, call(values));
      }
    }

    private Object call(Object[] values) {
      try {
        return (Object) eval.invokeExact(values);
      } catch (RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new FlinkRuntimeException(e);
      }
    }
  }

  @Override
  public void evaluate(HostVector[] operands, HostVector results, Rows rows) {
    if (call == null) {
      call =
          new Call(
              handle(), arguments.stream().map(VectorValues::of).toList(), VectorValues.of(result));
    }
    call.evaluate(operands, results, rows);
  }

  private MethodHandle handle() {
    try {
      Method eval =
          function.getClass().getMethod(UserDefinedFunctionHelper.SCALAR_EVAL, parameters);
      eval.setAccessible(true); // its class need not be public
      return MethodHandles.lookup()
          .unreflect(eval)
          .asType(MethodType.genericMethodType(arguments.size() + 1))
          .bindTo(function)
          .asSpreader(Object[].class, arguments.size());
    } catch (ReflectiveOperationException e) {
      throw new FlinkRuntimeException(e);
    }
  }
}
