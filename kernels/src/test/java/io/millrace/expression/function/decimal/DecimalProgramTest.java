// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.calc.CalcProgram;
import io.millrace.calc.CalcProgramWriter;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.PtxAssembler;
import io.millrace.expression.Expression;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.TypedExpression;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Kernels with numeric casts and decimal arithmetic assemble; needs no GPU. */
class DecimalProgramTest {
  private static final List<DataType> TYPES =
      List.of(
          DataType.BOOL,
          DataType.INT8,
          DataType.INT32,
          DataType.INT64,
          DataType.FLOAT32,
          DataType.FLOAT64,
          DataType.decimal(5, 1),
          DataType.decimal(15, 4),
          DataType.decimal(20, 4),
          DataType.decimal(38, 20));

  private static final Schema SCHEMA =
      new Schema(TYPES.stream().map(type -> Field.of(type.toString(), type)).toList());

  static Stream<DataType> types() {
    return TYPES.stream();
  }

  @ParameterizedTest
  @MethodSource("types")
  void castsToATypeAssemble(DataType to) {
    assertAssembles(TYPES.stream().map(from -> column(from).cast(to)).toList());
  }

  static Stream<DataType> decimals() {
    return TYPES.stream().filter(DataType::isDecimal);
  }

  @ParameterizedTest
  @MethodSource("decimals")
  void operationsAssemble(DataType left) {
    List<Expression> operations = new ArrayList<>();
    for (String function : List.of("+", "-", "*", "/", "MOD", "<", ">=", "=")) {
      for (DataType right : List.of(DataType.INT64, DataType.decimal(5, 1), left)) {
        operations.add(call(function, column(left), column(right)));
      }
    }
    operations.add(call("<", column(left), column(DataType.FLOAT64)));

    assertAssembles(operations);
  }

  @ParameterizedTest
  @MethodSource("decimals")
  void functionsAssemble(DataType type) {
    List<Expression> calls = new ArrayList<>();
    for (String function : List.of("ABS", "NEGATE", "SIGN", "FLOOR", "CEIL", "ROUND")) {
      calls.add(call(function, column(type)));
    }
    calls.add(call("TRUNCATE", column(type), -2));

    assertAssembles(calls);
  }

  private static Expression column(DataType type) {
    return col(type.toString());
  }

  private static void assertAssembles(List<Expression> expressions) {
    ExpressionResolver resolver = new ExpressionResolver(SCHEMA, ResolutionContext.DEFAULT);
    List<TypedExpression> typed = expressions.stream().map(resolver::resolve).toList();
    CalcProgram program = CalcProgramWriter.write(null, typed, true, PtxLibrary.builtIn());

    assertThat(PtxAssembler.errorsForOneArchitecture(program.ptx())).isEmpty();
  }
}
