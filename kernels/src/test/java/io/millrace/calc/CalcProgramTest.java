// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.PtxAssembler;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.RowNumber;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.testing.ExampleCalls;
import io.millrace.testing.HostReasons;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Generated kernels assemble; needs no GPU. */
class CalcProgramTest {
  private static final PtxLibrary LIBRARY = PtxLibrary.builtIn();
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("b", DataType.BOOL),
          Field.of("i", DataType.INT32),
          new Field("l", DataType.INT64, false),
          Field.of("f", DataType.FLOAT32),
          Field.of("d", DataType.FLOAT64),
          Field.of("dec", DataType.decimal(30, 6)),
          Field.of("ts", DataType.timestamp(9)),
          Field.of("s", DataType.STRING),
          Field.of("t", DataType.STRING));

  static Stream<Expression> expressions() {
    return Stream.of(
        col("b").and(col("i").gt(3)).or(col("d").lt(0.5)),
        col("i").plus(1).times(col("i")).as("x"),
        col("l").minus(7L).negate(),
        col("f").dividedBy(2.0f),
        col("f").times(col("d")),
        col("l").dividedBy(col("f")),
        call("GREATEST", col("f"), 1.5f, col("i")),
        call("LEAST", col("d"), col("f"), 1.5),
        call("LEAST", col("i").dividedBy(col("l")), col("l"), 3L),
        call("GREATEST", col("dec"), col("dec")),
        call("COALESCE", col("i"), col("i").dividedBy(col("l"))),
        call("IFNULL", col("s"), "none"),
        call("IF", col("b"), col("l"), col("l").dividedBy(2L)),
        call("IS DISTINCT FROM", col("i").dividedBy(2), col("i")),
        new Expression.Cast(col("l"), DataType.INT64, true),
        col("i").dividedBy(col("i").minus(5)),
        col("b").and(col("i").dividedBy(0).gt(1)),
        new Expression.Case(
            List.of(col("i").gt(0), col("b")),
            List.of(col("i").mod(3), lit(-1), Expressions.nullOf(DataType.INT32))),
        new Expression.Case(List.of(col("b")), List.of(col("d"), lit(0.0))),
        col("dec").ge(col("dec")),
        col("ts").isNotEqual(col("ts")),
        call("GREATEST", col("s"), col("t"), "abc"),
        col("ts").isEqual(col("s")),
        col("ts").gt("2026-03-01 10:20:30.123456789"),
        col("dec").lt(col("s")).or(col("i").lt(col("t"))),
        col("s").isEqual("x").or(col("s").isNull()),
        col("s").coalesce(col("t"), "none"),
        col("ts"),
        col("dec"));
  }

  @ParameterizedTest
  @MethodSource("expressions")
  void aProjectionAssembles(Expression expression) {
    TypedExpression typed = resolve(expression);

    assertThat(assemblyErrors(null, List.of(typed))).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("expressions")
  void aProjectionWithAConditionAssembles(Expression expression) {
    TypedExpression condition = resolve(col("l").gt(10L).and(col("b")));

    assertThat(assemblyErrors(condition, List.of(resolve(expression), resolve(col("i")))))
        .isEmpty();
  }

  static Stream<FunctionDefinition> functions() {
    return FunctionRegistry.builtIn().definitions().stream();
  }

  @ParameterizedTest
  @MethodSource("functions")
  void functionsOfTheLibraryAreCalledAsTheyAreDeclared(FunctionDefinition function) {
    for (Signature signature : function.signatures()) {
      TypedExpression call =
          ExampleCalls.of(function, signature, ResolutionContext.DEFAULT.withBatch());
      if (HostReasons.of(call).isEmpty()) {
        CalcProgramWriter.write(null, List.of(call), true, LIBRARY);
      }
    }
  }

  @Test
  void boundsOfMoreThan32BitsAssemble() {
    Expression padded = call("RPAD", col("s"), 1_000, "x");
    Expression endless = col("t").coalesce("none");
    for (int i = 0; i < 20; i++) {
      padded = i < 4 ? call("REPEAT", padded, 64) : padded;
      endless = call("REPEAT", endless, 64);
    }
    List<TypedExpression> typed = List.of(resolve(padded), resolve(endless));

    String ptx = CalcProgramWriter.write(null, typed, true, LIBRARY).ptx();
    assertThat(PtxAssembler.errorsForOneArchitecture(ptx)).isEmpty();
    assertThat(ptx.lines().filter(line -> line.contains("mad.wide.s32")))
        .as("the assembler cuts what does not fit without a word")
        .noneMatch(line -> line.matches(".*, [0-9]{11,}, .*|.*, [3-9][0-9]{9}, .*"));
    assertThat(RowSizeLimit.of(typed.get(0)).constant()).isEqualTo(3_000L << 24);
    assertThat(RowSizeLimit.of(typed.get(1)).constant()).isGreaterThan(Integer.MAX_VALUE);
  }

  @Test
  void constantTextsAreWholeWords() {
    List<TypedExpression> typed =
        List.of(resolve(call("REPLACE", col("s"), "ab", "")), resolve(lit("a longer text")));

    String ptx = CalcProgramWriter.write(null, typed, true, LIBRARY).ptx();

    List<Integer> sizes =
        Pattern.compile("\\.global \\.align 16 \\.b8 \\w+\\[(\\d+)]")
            .matcher(ptx)
            .results()
            .map(match -> Integer.parseInt(match.group(1)))
            .toList();
    assertThat(sizes).contains(8, 16).allMatch(size -> size % Long.BYTES == 0);
    assertThat(PtxAssembler.errors(ptx)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void lanesConvergeBehindCallsOfFunctions(boolean filters) {
    TypedExpression condition = filters ? resolve(col("s").like("%a%b%")) : null;
    List<TypedExpression> replaced = List.of(resolve(call("REPLACE", col("s"), "ab", "")));

    String kernel = kernel(CalcProgramWriter.write(condition, replaced, true, LIBRARY));

    String collective = filters ? "calc_set_valid, " : "vote.sync.ballot.b32 ";
    assertThat(kernel).containsPattern(converged("call.uni (result), calc_lane_prefix"));
    assertThat(kernel).containsPattern(converged("(call.uni )?" + collective));
    List<TypedExpression> sum = List.of(resolve(col("i").plus(1)));
    assertThat(kernel(CalcProgramWriter.write(resolve(col("b")), sum, true, LIBRARY)))
        .doesNotContain("bar.warp.sync");
  }

  private static String kernel(CalcProgram program) {
    return program.ptx().substring(program.ptx().indexOf(".entry"));
  }

  /** A wait with a mask in a register, and no call or collective from there to {@code behind}. */
  private static String converged(String behind) {
    String calls = "call\\.|vote\\.sync|shfl\\.sync";
    String literal = behind.replace("(result)", "\\(result\\)");
    return "bar\\.warp\\.sync %\\w+;\\n(?s:(?!" + calls + ").)*" + literal;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void allColumnsInOneKernelAssemble(boolean filters) {
    List<TypedExpression> typed = new ArrayList<>();
    expressions().forEach(expression -> typed.add(resolve(expression)));
    typed.add(new RowNumber());

    assertThat(assemblyErrors(filters ? resolve(col("b")) : null, typed)).isEmpty();
  }

  private static TypedExpression resolve(Expression expression) {
    return new ExpressionResolver(SCHEMA, ResolutionContext.DEFAULT).resolve(expression);
  }

  private static String assemblyErrors(
      TypedExpression condition, List<TypedExpression> projections) {
    CalcProgram program = CalcProgramWriter.write(condition, projections, true, LIBRARY);
    return PtxAssembler.errorsForOneArchitecture(program.ptx());
  }
}
