// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.PtxAssembler;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.resolve.ColumnFunction;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class UserDefinedFunctionTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("name", DataType.STRING),
          Field.of("price", DataType.FLOAT64),
          Field.of("percent", DataType.INT16));
  private static final UserDefinedFunction SHOUT =
      UserDefinedFunction.named("shout")
          .arguments(DataType.STRING)
          .returns(DataType.STRING)
          .as(
              ColumnFunction.ofRow(
                  (operands, result, row) ->
                      result.setString(row, operands[0].getString(row) + "!")));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static UserDefinedFunction discounted() throws IOException {
    String ptx =
        new String(
            UserDefinedFunctionTest.class.getResourceAsStream("discounted.ptx").readAllBytes(),
            StandardCharsets.US_ASCII);
    return UserDefinedFunction.named("DISCOUNTED")
        .arguments(DataType.FLOAT64, DataType.INT32)
        .returns(DataType.FLOAT64)
        .device("discounted", ptx)
        .as(
            ColumnFunction.ofRow(
                (operands, result, row) ->
                    result.doubles()[row] =
                        operands[0].doubles()[row] * (100 - operands[1].longs()[row]) / 100));
  }

  private static Calc calc(UserDefinedFunction function, Expression projection) throws Exception {
    ExpressionSettings settings = copy(ExpressionSettings.DEFAULT.withFunction(function));
    return Calc.of(SCHEMA, Optional.empty(), List.of(projection), settings.context());
  }

  private static ExpressionSettings copy(ExpressionSettings settings) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream output = new ObjectOutputStream(bytes)) {
      output.writeObject(settings);
    }
    try (ObjectInputStream input =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (ExpressionSettings) input.readObject();
    }
  }

  private List<List<Object>> run(Calc calc) {
    try (Table table =
            new TableBuilder()
                .column("name", DataType.STRING, "a", null)
                .column("price", DataType.FLOAT64, 12.5, 7.0)
                .column("percent", DataType.INT16, (short) 10, null)
                .build(device);
        Table result = calc.apply(table, device.stream(), device.memory())) {
      return device.rows(result);
    }
  }

  @Test
  void aFunctionInJavaRunsOnTheHostAndGetsNoNulls() throws Exception {
    Calc calc = calc(SHOUT, call("Shout", col("name")));
    assertThat(calc.hostReasons()).contains("SHOUT: plain Java of the user");
    assertThat(run(calc)).containsExactly(List.of("a!"), Collections.singletonList(null));
  }

  @Test
  void aFunctionWithPtxRunsOnTheDeviceWithTheSameResults() throws Exception {
    Calc calc = calc(discounted(), call("discounted", col("price"), col("percent")));
    assertThat(calc.hostReasons()).isEmpty();
    assertThat(run(calc)).containsExactly(List.of(11.25), Arrays.asList((Object) null));
  }

  @Test
  void aFunctionThatTakesNullsIsAskedAboutThem() throws Exception {
    UserDefinedFunction present =
        UserDefinedFunction.named("PRESENT")
            .arguments(DataType.STRING)
            .returns(DataType.STRING)
            .takesNulls()
            .hostOnly("for a reason")
            .as(
                ColumnFunction.ofRow(
                    (operands, result, row) ->
                        result.setString(row, operands[0].isNull(row) ? "no" : "yes")));
    Calc calc = calc(present, call("PRESENT", col("name")));
    assertThat(calc.hostReasons()).contains("PRESENT: for a reason");
    assertThat(run(calc)).containsExactly(List.of("yes"), List.of("no"));
  }

  private static void checkPrice(double price) {
    if (price < 10) {
      throw new IllegalStateException("cheap");
    }
  }

  static Stream<ColumnFunction> throwingFunctions() {
    return Stream.of(
        ColumnFunction.ofRow(
            (operands, result, row) -> {
              checkPrice(operands[0].doubles()[row]);
              result.doubles()[row] = 1;
            }),
        (operands, result, rows) -> {
          for (int i = 0; i < rows.count(); i++) {
            checkPrice(operands[0].doubles()[rows.position(i)]);
            result.doubles()[rows.position(i)] = 1;
          }
        });
  }

  @ParameterizedTest
  @MethodSource("throwingFunctions")
  void aRowThatAFunctionThrowsForIsNamed(ColumnFunction function) throws Exception {
    UserDefinedFunction throwing =
        UserDefinedFunction.named("EXPENSIVE")
            .arguments(DataType.FLOAT64)
            .returns(DataType.FLOAT64)
            .as(function);
    Calc calc = calc(throwing, call("EXPENSIVE", col("price")));
    assertThatThrownBy(() -> run(calc))
        .isInstanceOf(EvaluationException.class)
        .hasMessage("the function threw an exception in EXPENSIVE(price) at row 1: values 7.0")
        .cause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("cheap");
  }

  @Test
  void theGeneratedKernelHasTheFunctionAndAssembles() throws Exception {
    ExpressionSettings settings = ExpressionSettings.DEFAULT.withFunction(discounted());
    Calc calc = calc(discounted(), call("discounted", col("price"), col("percent")).plus(1));
    CalcProgram program =
        new CalcKernels(null, calc.projections(), settings.context().functions().ptxSources())
            .program(true);
    assertThat(program.ptx()).contains("discounted");
    assertThat(PtxAssembler.errorsForOneArchitecture(program.ptx())).isEmpty();
  }

  @Test
  void anOutcomeThatTheBindingDoesNotExpectIsRefused() throws Exception {
    String result = ".visible .func (.param %s) f(.param .b64 a)\n{\n  ret;\n}\n";
    String value = String.format(Locale.ROOT, result, ".b64 r");
    String outcome = String.format(Locale.ROOT, result, ".align 8 .b8 r[16]");
    assertThatThrownBy(() -> program(ofPrice().device("f", outcome)))
        .hasMessage("f returns an Outcome: bind it with nullable() or failing()");
    assertThatThrownBy(() -> program(ofPrice().nullable().device("f", value)))
        .hasMessage("f returns no Outcome: bind it without nullable() and failing()");
    assertThatThrownBy(() -> program(ofPrice().device("f", outcome.replace("16", "24"))))
        .hasMessage("expected result .b64 of f, got .align 8 .b8 [24]");
  }

  private static UserDefinedFunction.Builder ofPrice() {
    return UserDefinedFunction.named("F").arguments(DataType.FLOAT64).returns(DataType.FLOAT64);
  }

  private static CalcProgram program(UserDefinedFunction.Builder function) throws Exception {
    UserDefinedFunction built = function.as(ColumnFunction.ofRow((operands, result, row) -> {}));
    return calc(built, call("F", col("price"))).program();
  }

  @Test
  void aFusedCalcHasTheDeviceFunctionsOfAllItsSteps() throws Exception {
    Calc first = calc(discounted(), call("discounted", col("price"), col("percent")).as("price"));
    Calc cheap =
        Calc.of(
            first.outputSchema(),
            Optional.of(col("price").lt(10.0)),
            List.of(col("price").times(2.0).as("price")),
            ResolutionContext.DEFAULT);
    assertThat(first.andThen(cheap).program().ptx()).contains("discounted");
  }

  @Test
  void functionsOfOneNameAreNotTheSame() throws Exception {
    Expression expression = call("discounted", col("price"), col("percent"));
    assertThat(calc(discounted(), expression).projections())
        .isNotEqualTo(calc(discounted(), expression).projections());
  }

  @Test
  void twoDeviceFunctionsOfOneNameAreRefused() throws Exception {
    String ptx = discounted().ptx();
    assertThat(PtxLibrary.with(List.of(ptx, ptx + " ")).contains("discounted")).isTrue();
    assertThatThrownBy(() -> PtxLibrary.with(List.of(ptx, ptx.replace("mul.", "add."))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("two device functions are called discounted");
  }

  @Test
  void invalidDefinitionsAreRefused() throws Exception {
    assertThatThrownBy(() -> calc(SHOUT, call("SHOUT", col("price"))))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("SHOUT takes (STRING), not (DOUBLE)");
    assertThatThrownBy(() -> calc(SHOUT, call("SHOUT")))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("expected 1 arguments, got 0");
    assertThatThrownBy(
            () -> UserDefinedFunction.named("F").device("g", ".visible .func f() { ret; }"))
        .hasMessage("the PTX has no function g");
    assertThatThrownBy(
            () ->
                UserDefinedFunction.named("F")
                    .returns(DataType.STRING)
                    .device("f", ".visible .func f() { ret; }")
                    .as(ColumnFunction.ofRow((operands, result, row) -> {})))
        .hasMessage("expected a fixed-width result for the device function of F, got STRING");
    assertThatThrownBy(
            () ->
                UserDefinedFunction.named("F")
                    .returns(DataType.INT32)
                    .takesNulls()
                    .device("f", ".visible .func f() { ret; }")
                    .as(ColumnFunction.ofRow((operands, result, row) -> {})))
        .hasMessage("F takes nulls, which device functions do not");
    assertThatThrownBy(
            () ->
                ExpressionSettings.DEFAULT
                    .withFunction(
                        UserDefinedFunction.named("upper")
                            .returns(DataType.INT32)
                            .as(ColumnFunction.ofRow((operands, result, row) -> {})))
                    .context())
        .hasMessage("two functions are called UPPER");
  }
}
