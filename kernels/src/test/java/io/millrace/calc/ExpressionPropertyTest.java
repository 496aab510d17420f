// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.PtxAssembler;
import io.millrace.expression.Expression;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.testing.CalcResults;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.HostReasons;
import io.millrace.testing.RandomExpressions;
import io.millrace.testing.RandomExpressions.FunctionCall;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TestShare;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Calls of every function and random expressions: kernels assemble, and on a GPU they return the
 * same bits as the host.
 */
class ExpressionPropertyTest {
  private static final ResolutionContext CONTEXT =
      new ResolutionContext(ZoneId.of("Europe/Berlin"), FunctionRegistry.builtIn());
  private static final int CALLS_IN_ONE_KERNEL = 16;
  private static final int TREES = TestShare.of(100);
  private static final int TREES_IN_ONE_KERNEL = 4;
  private static final int MAX_DEPTH = 5;
  private static final int ROWS = 1000;
  private static final int MAX_FAILURES = 5;
  private static final long LITERAL_NUMBER = 2;
  private static final int MIN_DEVICE_FUNCTIONS = 80;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private RandomExpressions expressions;

  @BeforeEach
  void generate() {
    expressions = new RandomExpressions(random.random(), CONTEXT);
  }

  @Test
  void theKernelOfEachFunctionAssembles() {
    Map<String, List<TypedExpression>> calls = new LinkedHashMap<>();
    for (FunctionCall call : expressions.calls()) {
      TypedExpression typed = resolve(call.expression());
      if (HostReasons.of(typed).isEmpty()) {
        calls.computeIfAbsent(call.function(), key -> new ArrayList<>()).add(typed);
      }
    }

    List<String> errors = new ArrayList<>();
    for (List<TypedExpression> typed : calls.values()) {
      chunks(typed, CALLS_IN_ONE_KERNEL).forEach(chunk -> assemble(null, chunk, errors));
    }

    System.out.println(calls.size() + " functions on the device: " + calls.keySet());
    assertThat(errors).isEmpty();
    assertThat(calls).hasSizeGreaterThanOrEqualTo(MIN_DEVICE_FUNCTIONS);
  }

  @Test
  void kernelsOfRandomExpressionsAssemble() {
    List<String> errors = new ArrayList<>();
    for (List<Expression> chunk : chunks(trees(), TREES_IN_ONE_KERNEL)) {
      List<TypedExpression> typed = chunk.stream().map(this::resolve).toList();
      Optional<TypedExpression> condition =
          typed.stream().filter(tree -> tree.type().equals(DataType.BOOL)).findFirst();
      assemble(condition.orElse(null), typed, errors);
    }
    assertThat(errors).isEmpty();
  }

  private static void assemble(
      TypedExpression condition, List<TypedExpression> projections, List<String> errors) {
    try {
      String ptx =
          CalcProgramWriter.write(condition, projections, true, PtxLibrary.builtIn()).ptx();
      String error = PtxAssembler.errorsForOneArchitecture(ptx);
      if (!error.isEmpty()) {
        errors.add(projections + ": " + error);
      }
    } catch (IllegalStateException e) {
      errors.add(projections + ": " + e.getMessage());
    }
  }

  @ParameterizedTest
  @EnumSource(FunctionFamily.class)
  void eachFunctionGivesTheHostsBits(FunctionFamily family) {
    Map<String, List<Expression>> calls =
        expressions.calls().stream()
            .filter(call -> familyOf(call) == family)
            .filter(call -> HostReasons.of(resolve(call.expression())).isEmpty())
            .collect(
                Collectors.groupingBy(
                    FunctionCall::function,
                    LinkedHashMap::new,
                    Collectors.mapping(FunctionCall::expression, Collectors.toList())));

    Set<String> compared = new TreeSet<>();
    List<List<Expression>> chunks = new ArrayList<>();
    calls.forEach(
        (function, ofFunction) -> {
          compared.add(function);
          chunks.addAll(chunks(ofFunction, CALLS_IN_ONE_KERNEL));
        });
    assertDeviceGivesTheHostsBits(chunks);
    System.out.println(compared.size() + " functions on " + device.device().description());
  }

  // Casts are not functions of the registry.
  private static FunctionFamily familyOf(FunctionCall call) {
    FunctionRegistry functions = CONTEXT.functions();
    return functions.find(call.function()).isPresent()
        ? functions.function(call.function()).family()
        : FunctionFamily.CAST;
  }

  // Assemblers have bugs with constant arguments of functions that are called once.
  @Test
  void eachFunctionGivesTheHostsBitsForLiteralNumbers() {
    List<List<Expression>> calls =
        expressions.calls().stream()
            .filter(call -> call.expression() instanceof Expression.Call)
            .map(call -> withLiteralNumbers((Expression.Call) call.expression()))
            .flatMap(Optional::stream)
            .distinct()
            .filter(call -> HostReasons.of(resolve(call)).isEmpty())
            .map(List::of)
            .toList();
    assertThat(calls).hasSizeGreaterThan(MIN_DEVICE_FUNCTIONS);
    assertDeviceGivesTheHostsBits(calls);
  }

  /**
   * Replaces integer columns of a call by numbers if another column remains, for example a string.
   */
  private Optional<Expression> withLiteralNumbers(Expression.Call call) {
    List<Expression> arguments = new ArrayList<>();
    for (Expression argument : call.arguments()) {
      DataType type = resolve(argument).type();
      arguments.add(
          argument instanceof Expression.ColumnReference && type.isInteger()
              ? new Expression.Literal(LITERAL_NUMBER, type)
              : argument);
    }
    boolean isConstant = arguments.stream().noneMatch(Expression.ColumnReference.class::isInstance);
    return isConstant || arguments.equals(call.arguments())
        ? Optional.empty()
        : Optional.of(new Expression.Call(call.function(), arguments));
  }

  @Test
  void randomExpressionsGiveTheHostsBits() {
    assertDeviceGivesTheHostsBits(chunks(trees(), TREES_IN_ONE_KERNEL));
  }

  private void assertDeviceGivesTheHostsBits(List<List<Expression>> chunks) {
    assumeTrue(device.isCuda(), "needs a GPU");
    CalcResults results = new CalcResults(CONTEXT, device, MAX_FAILURES);
    List<String> differences = new ArrayList<>();
    for (List<List<Object>> rows : List.of(expressions.rows(ROWS + 1), extremeRows())) {
      try (Table whole = TableBuilder.ofRows(expressions.schema(), rows).build(device);
          Table table = whole.slice(1, ROWS)) {
        for (List<Expression> chunk : chunks) {
          List<List<Object>> onDevice = device.assertLaunches(() -> results.evaluate(table, chunk));
          List<List<Object>> onHost = results.evaluateOnHost(table, chunk);
          IntStream.range(0, chunk.size())
              .filter(i -> !onDevice.get(i).equals(onHost.get(i)))
              .forEach(
                  i -> differences.add(describe(chunk.get(i), onDevice.get(i), onHost.get(i))));
        }
      }
    }
    assertThat(differences).isEmpty();
  }

  private static String describe(Expression expression, List<Object> device, List<Object> host) {
    int row = 0;
    while (device.get(row) == null
        ? host.get(row) == null
        : device.get(row).equals(host.get(row))) {
      row++;
    }
    return expression
        + " at row "
        + row
        + ": device "
        + device.get(row)
        + ", host "
        + host.get(row);
  }

  /** Includes the bounds of each type, for which SQL functions may be undefined. */
  private List<List<Object>> extremeRows() {
    return new RandomTables(random.random(), 0.1).rows(expressions.schema(), ROWS + 1);
  }

  private List<Expression> trees() {
    return IntStream.range(0, TREES)
        .mapToObj(i -> expressions.generate(1 + i % MAX_DEPTH))
        .filter(tree -> HostReasons.of(resolve(tree)).isEmpty())
        .toList();
  }

  private TypedExpression resolve(Expression expression) {
    return expressions.resolver().resolve(expression);
  }

  private static <T> List<List<T>> chunks(List<T> elements, int size) {
    List<List<T>> chunks = new ArrayList<>();
    for (int i = 0; i < elements.size(); i += size) {
      chunks.add(elements.subList(i, Math.min(elements.size(), i + size)));
    }
    return chunks;
  }
}
