// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.testing.HostReasons;
import io.millrace.testing.RandomExpressions;
import io.millrace.testing.RandomExpressions.FunctionCall;
import io.millrace.testing.RandomExtension;
import java.lang.ref.WeakReference;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

class KernelIdentityTest {
  private static final Schema SCHEMA =
      Schema.of(Field.of("a", DataType.INT64), Field.of("s", DataType.STRING));

  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void isEqualForEqualExpressionsThatWereResolvedTwice() {
    Expression first = col("a").plus(1L).times(col("a")).gt(5L).and(col("s").like("a%"));
    Expression second = col("a").plus(1L).times(col("a")).gt(5L).and(col("s").like("a%"));

    assertThat(identity(first)).isEqualTo(identity(second)).hasSameHashCodeAs(identity(second));
  }

  @Test
  void differsWithLiteralsFunctionsTypesAndConditions() {
    TypedExpression typed = resolve(col("a").gt(1L));

    assertThat(
            List.of(
                identity(col("a").gt(1L)),
                identity(col("a").gt(2L)),
                identity(col("a").lt(1L)),
                identity(col("a").gt(1)),
                identity(col("s").like("a%")),
                identity(col("s").like("b%")),
                KernelIdentity.of(true, List.of(typed), List.of()),
                KernelIdentity.of(false, List.of(typed, typed), List.of()),
                KernelIdentity.of(false, List.of(typed), List.of("ptx"))))
        .doesNotHaveDuplicates();
  }

  @Test
  void equalIdentitiesHaveEqualPrograms() {
    Map<KernelIdentity, String> programs = new HashMap<>();
    for (String zone : List.of("UTC", "Europe/Berlin", "UTC")) {
      RandomExpressions expressions =
          new RandomExpressions(
              random.random(), new ResolutionContext(ZoneId.of(zone), FunctionRegistry.builtIn()));
      for (FunctionCall call : expressions.calls()) {
        TypedExpression typed = expressions.resolver().resolve(call.expression());
        if (HostReasons.of(typed).isEmpty()) {
          String ptx =
              CalcProgramWriter.write(null, List.of(typed), true, PtxLibrary.builtIn()).ptx();
          KernelIdentity identity = KernelIdentity.of(false, List.of(typed), List.of());
          assertThat(programs.merge(identity, ptx, (known, next) -> known))
              .as("%s in %s", call.expression(), zone)
              .isEqualTo(ptx);
        }
      }
    }
    assertThat(programs).hasSizeGreaterThan(500);
  }

  @Test
  void instructionsOfAJobsOwnClassesEqualNoOthers() {
    // A proxy from another class loader, like a class of a job.
    DeviceFunction.Instructions instructions = (ptx, operands, result) -> {};
    DeviceFunction.Instructions ofJob =
        (DeviceFunction.Instructions)
            java.lang.reflect.Proxy.newProxyInstance(
                new ClassLoader(getClass().getClassLoader()) {},
                new Class<?>[] {DeviceFunction.Instructions.class},
                (proxy, method, arguments) -> null);

    assertThat(instructed(instructions)).isEqualTo(instructed(instructions));
    assertThat(instructed(ofJob)).isNotEqualTo(instructed(ofJob));
  }

  private static KernelIdentity instructed(DeviceFunction.Instructions instructions) {
    TypedExpression typed =
        BoundFunction.named("OWN")
            .host(HostFunction.ofLong(value -> value))
            .device(instructions)
            .call(List.of(resolve(col("a"))), DataType.INT64);
    return KernelIdentity.of(false, List.of(typed), List.of());
  }

  @Test
  @Timeout(300)
  void keepsNoObjectOfAJob() throws InterruptedException {
    KernelIdentity[] identity = new KernelIdentity[1];
    WeakReference<UserDefinedFunction> function = new WeakReference<>(ofJob(identity));

    while (function.get() != null) {
      System.gc();
      Thread.sleep(10);
    }
    assertThat(identity[0].values()).hasSize(2);
  }

  private static UserDefinedFunction ofJob(KernelIdentity[] identity) {
    UserDefinedFunction function =
        UserDefinedFunction.named("OWN")
            .arguments(DataType.INT64)
            .returns(DataType.INT64)
            .device("own", "own")
            .as((operands, result, rows) -> {});
    ResolutionContext context = ExpressionSettings.DEFAULT.withFunction(function).context();
    TypedExpression typed = new ExpressionResolver(SCHEMA, context).resolve(call("OWN", col("a")));
    identity[0] = KernelIdentity.of(false, List.of(typed), context.functions().ptxSources());
    return function;
  }

  private static KernelIdentity identity(Expression expression) {
    return KernelIdentity.of(false, List.of(resolve(expression)), List.of());
  }

  private static TypedExpression resolve(Expression expression) {
    return new ExpressionResolver(SCHEMA, ResolutionContext.DEFAULT).resolve(expression);
  }
}
